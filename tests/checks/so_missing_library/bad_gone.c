// build: cc -shared -fPIC -o libgone.so -DPART {source} && cc -shared -fPIC -o example.so {source} -L. -lgone && rm libgone.so
// problem: error
// load: cannot open shared object file
#ifdef PART
int part(void) { return 1; }
#else
int part(void);
int whole(void) { return part(); }
#endif
