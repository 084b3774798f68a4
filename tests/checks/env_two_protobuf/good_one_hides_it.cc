// build: mkdir {site}/other && c++ -shared -fPIC -o {site}/tensorflow/libtensorflow_framework.so.2 {source} && c++ -shared -fPIC -fvisibility=hidden -o {site}/other/_c.so {source}
namespace google {
namespace protobuf {
class DescriptorPool {
 public:
  static const DescriptorPool* generated_pool();
};
const DescriptorPool* DescriptorPool::generated_pool() { return nullptr; }
}  // namespace protobuf
}  // namespace google
