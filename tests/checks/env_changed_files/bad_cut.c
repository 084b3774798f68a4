// build: mkdir {site}/part-1.0.dist-info && cc -shared -fPIC -o {site}/part.so {source}
// build: echo "part.so,sha256=0,$(stat -c %s {site}/part.so)" > {site}/part-1.0.dist-info/RECORD && truncate -s 9000 {site}/part.so
// problem: error
int one(void) { return 1; }
