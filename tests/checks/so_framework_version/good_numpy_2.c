// build: mkdir {site}/numpy-2.1.0.dist-info && cc -shared -fPIC -o example.so {source}
// load: fine
void *PyImport_ImportModule(const char *);
void *PyCapsule_GetPointer(void *, const char *);
void *import_array(void) {
  void *numpy = PyImport_ImportModule("numpy._core._multiarray_umath");
  if (!numpy) numpy = PyImport_ImportModule("numpy.core._multiarray_umath");
  return PyCapsule_GetPointer(numpy, "_ARRAY_API");
}
