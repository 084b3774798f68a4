// build: cc -shared -fPIC -o example.so {source} -Wl,-rpath,'$ORIGIN:lib' -lm -Wl,--no-as-needed
// problem: warning
// load: fine
#include <math.h>
double whole(double x) { return cos(x); }
