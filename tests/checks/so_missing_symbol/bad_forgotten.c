// build: cc -shared -fPIC -o example.so {source}
// problem: error
// load: undefined symbol
int forgotten(void);
int whole(void) { return forgotten(); }
