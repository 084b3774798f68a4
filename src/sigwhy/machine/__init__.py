"""What a machine does: bytes to instructions, addresses to names. No input but what it is given."""
