// build: cc -shared -fPIC -o example.so {source}
// cpu: x86-64
// unless cpu: avx512_fp16
// problem: error
// load: SIGILL
static void helper(void) { __asm__ volatile("vaddph %zmm1, %zmm2, %zmm3"); }
__attribute__((constructor)) static void begin(void) { helper(); }
