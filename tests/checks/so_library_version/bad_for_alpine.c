// build: cc -shared -fPIC -o example.so {source} -lc
// target os: alpine
// problem: error
// load: fine
#include <stdlib.h>
void *whole(void) { return malloc(8); }
