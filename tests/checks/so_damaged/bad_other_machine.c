// build: cc -shared -fPIC -o example.so {source} && printf '\363' | dd of=example.so bs=1 seek=18 conv=notrunc status=none
// problem: error
// load: cannot open shared object file|wrong ELF class|No such file
int one(void) { return 1; }
