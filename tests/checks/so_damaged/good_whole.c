// build: cc -shared -fPIC -o example.so {source}
// load: fine
int table[4000] = {1};
int first(void) { return table[0]; }
