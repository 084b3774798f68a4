// build: cc -shared -fPIC -Wl,-z,noexecstack -o example.so {source}
// load: fine
int one(void) { return 1; }
