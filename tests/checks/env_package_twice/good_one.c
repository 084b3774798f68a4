// build: mkdir {site}/tensorflow-2.16.2.dist-info {site}/numpy-2.1.0.dist-info
// build: echo "tensorflow/a.so,sha256=0,1" > {site}/tensorflow-2.16.2.dist-info/RECORD
