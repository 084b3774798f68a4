"""What goes wrong on the user's side, said so that he can mend it."""

from __future__ import annotations


class UsageError(Exception):
    """One line: what was given, what was wanted, what to do. The command exits with 2."""
