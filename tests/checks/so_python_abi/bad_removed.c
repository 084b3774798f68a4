// build: cc -shared -fPIC -o example{suffix} {source}
// look at: example{suffix}
// problem: error
// import: undefined symbol
void *PyCObject_AsVoidPtr(void *);
void *PyInit_example(void) { return PyCObject_AsVoidPtr(0); }
