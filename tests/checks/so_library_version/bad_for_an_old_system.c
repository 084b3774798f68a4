// build: cc -shared -fPIC -o example.so {source}
// target os: manylinux2014
// problem: error
// load: fine
#define _GNU_SOURCE
#include <unistd.h>
int gettid_of_2_30(void) { return gettid(); }
