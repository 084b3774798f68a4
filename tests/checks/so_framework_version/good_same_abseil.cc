// build: c++ -shared -fPIC -DFRAMEWORK -DTAG=lts_20250814 -o {site}/tensorflow/libtensorflow_framework.so.2 {source}
// build: c++ -shared -fPIC -DTAG=lts_20250814 -o example.so {source} {site}/tensorflow/libtensorflow_framework.so.2
// load: fine
namespace absl {
namespace TAG {
int Now();
#ifdef FRAMEWORK
int Now() { return 1; }
#endif
}  // namespace TAG
}  // namespace absl
#ifndef FRAMEWORK
extern "C" int whole() { return absl::TAG::Now(); }
#endif
