"""The download ended early."""

MODEL = b""
PLACE = "file"
