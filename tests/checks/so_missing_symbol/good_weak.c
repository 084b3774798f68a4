// build: cc -shared -fPIC -o example.so {source} -lm
// load: fine
#include <math.h>
int optional(void) __attribute__((weak));
double whole(double x) { return optional ? optional() : cos(x); }
