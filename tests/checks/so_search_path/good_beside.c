// build: cc -shared -fPIC -o example.so {source} -Wl,-rpath,'$ORIGIN' -lm
// load: fine
#include <math.h>
double whole(double x) { return cos(x); }
