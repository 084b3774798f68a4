// build: c++ -shared -fPIC -DFRAMEWORK -o {site}/tensorflow/libtensorflow_framework.so.2 {source}
// build: c++ -shared -fPIC -D_GLIBCXX_USE_CXX11_ABI=0 -o example.so {source}
// problem: error
// load: undefined symbol
#include <string>
namespace tensorflow {
class Notes {
 public:
  static int Add(std::string words);
};
#ifdef FRAMEWORK
int Notes::Add(std::string words) { return static_cast<int>(words.size()); }
#endif
}  // namespace tensorflow
#ifndef FRAMEWORK
extern "C" int whole() { return tensorflow::Notes::Add("a"); }
#endif
