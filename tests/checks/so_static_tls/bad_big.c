// build: cc -shared -fPIC -ftls-model=initial-exec -o example.so {source}
// problem: error
// load: cannot allocate memory in static TLS block
static __thread char room[65536];
char *whole(int n) { return room + n; }
