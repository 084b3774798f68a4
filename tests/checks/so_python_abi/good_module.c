// build: cc -shared -fPIC -o example{suffix} {source}
// look at: example{suffix}
// import: fine
struct { long head[5]; const char *name; const char *doc; long size; void *rest[5]; } definition = {{1}, "example", 0, -1};
void *PyModule_Create2(void *, int);
void *PyInit_example(void) { return PyModule_Create2(&definition, 1013); }
