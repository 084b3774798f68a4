// build: printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12345\n' > example.so
// problem: error
// load: invalid ELF header|file too short
