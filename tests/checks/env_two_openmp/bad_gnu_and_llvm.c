// build: mkdir {site}/a.libs {site}/b.libs
// build: cc -shared -fPIC -DLLVM -o {site}/a.libs/libiomp5.so {source} && cc -shared -fPIC -o {site}/b.libs/libgomp-1a2b.so.1 {source}
// problem: note
#ifdef LLVM
void __kmpc_fork_call(void) {}
#endif
void GOMP_parallel(void) {}
