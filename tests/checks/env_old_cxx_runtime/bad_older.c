// build: echo 'GLIBCXX_3.4 {{ global: part; }}; GLIBCXX_3.4.99 {{ global: more; }} GLIBCXX_3.4;' > new; echo 'GLIBCXX_3.4 {{ global: part; }};' > old
// build: cc -shared -fPIC -Wl,-soname,libstdc++.so.6 -Wl,--version-script=new -DPART -o libnew.so {source}
// build: cc -shared -fPIC -nodefaultlibs -o {site}/wants.so {source} -L. -lnew
// build: mkdir {site}/a.libs && cc -shared -fPIC -Wl,-soname,libstdc++.so.6 -Wl,--version-script=old -DPART -o {site}/a.libs/libstdc++.so.6 {source}
// problem: warning
#ifdef PART
int part(void) { return 1; }
int more(void) { return 2; }
#else
int more(void);
int whole(void) { return more(); }
#endif
