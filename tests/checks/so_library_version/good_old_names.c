// build: cc -shared -fPIC -o example.so {source}
// target os: manylinux2014
// load: fine
#include <stdlib.h>
void *whole(void) { return malloc(8); }
