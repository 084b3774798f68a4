// build: cc -shared -fPIC -Wl,-z,x86-64-v3 -o example.so {source}
// cpu: x86-64
// target cpu: nehalem
// problem: error
// load: fine
int one(void) { return 1; }
