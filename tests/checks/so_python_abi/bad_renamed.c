// build: cc -shared -fPIC -o example{suffix} {source}
// look at: example{suffix}
// problem: error
// import: does not define module export function
void *PyModule_Create2(void *, int);
void *PyInit_another(void) { return PyModule_Create2(0, 1013); }
