// build: cc -shared -fPIC -Wl,-z,execstack -o example.so {source}
// problem: warning
// load: rwxp .*\[stack\]|cannot enable executable stack
int one(void) { return 1; }
