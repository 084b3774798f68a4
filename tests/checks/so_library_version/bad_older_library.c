// build: echo 'PART_1 {{ global: part; }}; PART_2 {{ global: more; }} PART_1;' > new; echo 'PART_1 {{ global: part; }};' > old
// build: cc -shared -fPIC -Wl,-soname,libpart.so -Wl,--version-script=new -DPART -o libpart.so {source}
// build: cc -shared -fPIC -o example.so {source} -L. -lpart -Wl,-rpath,'$ORIGIN'
// build: cc -shared -fPIC -Wl,-soname,libpart.so -Wl,--version-script=old -DPART -o libpart.so {source}
// problem: error
// load: version `PART_2' not found
#ifdef PART
int part(void) { return 1; }
int more(void) { return 2; }
#else
int more(void);
int whole(void) { return more(); }
#endif
