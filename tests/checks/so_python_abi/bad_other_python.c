// build: cc -shared -fPIC -o example.cpython-37m-x86_64-linux-gnu.so {source}
// look at: example.cpython-37m-x86_64-linux-gnu.so
// problem: warning
// import: No module named
void *PyModule_Create2(void *, int);
void *PyInit_example(void) { return PyModule_Create2(0, 1013); }
