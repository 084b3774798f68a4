// build: cc -shared -fPIC -o libpart.so -DPART {source} && cc -shared -fPIC -o example.so {source} -L. -lpart -Wl,-rpath,'$ORIGIN'
// load: fine
#ifdef PART
int part(void) { return 1; }
#else
int part(void);
int whole(void) { return part(); }
#endif
