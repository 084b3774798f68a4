// build: cc -shared -fPIC -o example.so {source} -Wl,-rpath,/home/builder/lib -lm
// problem: note
// load: fine
#include <math.h>
double whole(double x) { return cos(x); }
