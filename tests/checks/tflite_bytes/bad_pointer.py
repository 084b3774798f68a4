"""Git LFS left its pointer."""

MODEL = b"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 5\n"
PLACE = "file"
