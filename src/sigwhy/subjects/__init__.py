"""What is looked at, each kind read once for all checks: sources, models, libraries."""
