"""From a report to a document: one file for each form."""
