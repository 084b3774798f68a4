// build: cc -shared -fPIC -o whole.so {source} && head -c 12500 whole.so > example.so
// problem: error
// load: SIGBUS|file too short|past end of file
int table[4000] = {1};
int first(void) { return table[0]; }
