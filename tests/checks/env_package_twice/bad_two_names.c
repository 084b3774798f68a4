// build: mkdir {site}/tensorflow-2.16.2.dist-info {site}/tensorflow_cpu-2.18.0.dist-info
// build: echo "tensorflow/a.so,sha256=0,1" | tee {site}/tensorflow-2.16.2.dist-info/RECORD > {site}/tensorflow_cpu-2.18.0.dist-info/RECORD
// problem: warning
