"""How files are looked at: which, by which checks, in how many processes, and what is kept for the next time."""
