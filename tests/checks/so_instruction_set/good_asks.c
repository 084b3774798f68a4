// build: cc -shared -fPIC -o example.so {source}
// cpu: x86-64
// load: fine
static void helper(void) { __asm__ volatile("vaddph %zmm1, %zmm2, %zmm3"); }
__attribute__((constructor)) static void begin(void) {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512vp2intersect") && __builtin_cpu_supports("avx512vbmi2") &&
      !__builtin_cpu_supports("sse2"))
    helper();
}
