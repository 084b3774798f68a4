// build: cc -O2 -mavx2 -ftree-vectorize -fno-builtin -shared -fPIC -o example.so {source}
// cpu: x86-64
// target cpu: nehalem
// problem: warning
// load: fine
void add(float *a, const float *b, int n) {
  for (int i = 0; i < n; i++) a[i] = a[i] * b[i] + 1;
}
void twice(float *a, const float *b, int n) {
  for (int i = 0; i < n; i++) a[i] = a[i] / b[i] - 1;
}
