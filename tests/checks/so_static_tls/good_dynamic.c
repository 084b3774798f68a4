// build: cc -shared -fPIC -o example.so {source}
// load: fine
static __thread char room[65536];
char *whole(int n) { return room + n; }
