// build: cc -shared -fPIC -ftls-model=initial-exec -o example.so {source}
// problem: warning
// load: fine
static __thread char room[700];
char *whole(int n) { return room + n; }
