// build: mkdir {site}/a.libs {site}/b.libs
// build: cc -shared -fPIC -o {site}/a.libs/libgomp-3c4d.so.1 {source} && cp {site}/a.libs/libgomp-3c4d.so.1 {site}/b.libs/libgomp-1a2b.so.1
void GOMP_parallel(void) {}
