// build: mkdir {site}/numpy-1.26.4.dist-info {site}/numpy-2.1.0.dist-info
// problem: warning
