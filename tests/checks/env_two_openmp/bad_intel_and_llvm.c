// build: mkdir {site}/a.libs {site}/b.libs
// build: cc -shared -fPIC -DLLVM -o {site}/a.libs/libiomp5.so {source} && cc -shared -fPIC -DLLVM -DMORE -o {site}/b.libs/libomp-1a2b.so.5 {source}
// problem: warning
#ifdef LLVM
void __kmpc_fork_call(void) {}
#endif
#ifdef MORE
char more[65536] = {1};
#endif
void GOMP_parallel(void) {}
