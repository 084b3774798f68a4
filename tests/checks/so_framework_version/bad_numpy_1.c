// build: mkdir {site}/numpy-2.1.0.dist-info && cc -shared -fPIC -o example.so {source}
// problem: error
// load: fine
// It fails when it asks NumPy 2 for its functions, as the import function in NumPy's headers does.
void *PyImport_ImportModule(const char *);
void *PyCapsule_GetPointer(void *, const char *);
void *import_array(void) {
  return PyCapsule_GetPointer(PyImport_ImportModule("numpy.core._multiarray_umath"), "_ARRAY_API");
}
