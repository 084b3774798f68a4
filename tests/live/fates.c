// Ways to end, one per word. Compiled by tests/live/watched.py.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int *volatile nowhere = (int *)0x10;
static sigjmp_buf back;

static void fault(void) { *nowhere = 1; }
static void jump(int n) { siglongjmp(back, n); }
static void leave(int n) { _exit(40 + n % 3); }
static void tell(int n, siginfo_t *info, void *u) {
    dprintf(1, "%d code %d from %s\n", n, info->si_code, info->si_pid == getppid() ? "parent" : info->si_pid == getpid() ? "self" : "other");
}
static void handle(int n, void (*f)(int), int flags) {
    struct sigaction a = {.sa_handler = f, .sa_flags = flags};
    sigaction(n, &a, 0);
}
static int deep(int n) { volatile char pad[512]; pad[0] = n; return deep(n + 1) + pad[0]; }
static void *overflow(void *x) { return (void *)(long)deep(0); }
static pthread_barrier_t together;
static void *at_once(void *x) { pthread_barrier_wait(&together); fault(); return 0; }
static void *nothing(void *x) { return x; }
static void *become(void *argv) { execv("/bin/sh", argv); return 0; }

static void seccomp(int number, unsigned action) {
    struct sock_filter f[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog p = {4, f};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p)) { perror("seccomp"); exit(99); }
}

int main(int argc, char **argv) {
    const char *way = argv[1];
    pthread_t t[8];
    if (!strcmp(way, "fault")) fault();
    if (!strcmp(way, "abort")) abort();
    if (!strcmp(way, "fault-blocked")) {
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, 0);
        fault();
    }
    if (!strcmp(way, "fault-ignored")) { handle(SIGSEGV, SIG_IGN, 0); fault(); }
    if (!strcmp(way, "raise-ignored")) { handle(SIGSEGV, SIG_IGN, 0); raise(SIGSEGV); return 5; }
    if (!strcmp(way, "recover")) {
        handle(SIGSEGV, jump, 0);
        for (volatile int i = 0; i < 64; i++) if (!sigsetjmp(back, 1)) fault();
        return argc > 2 ? atoi(argv[2]) : 0;
    }
    if (!strcmp(way, "leave")) { handle(SIGSEGV, leave, 0); fault(); }
    if (!strcmp(way, "leave-reentrant")) { handle(SIGSEGV, leave, SA_NODEFER); fault(); }
    if (!strcmp(way, "thread-overflow")) {
        pthread_attr_t a;
        pthread_attr_init(&a);
        pthread_attr_setstacksize(&a, 64 << 10);
        pthread_create(t, &a, overflow, 0);
        pthread_join(t[0], 0);
    }
    if (!strcmp(way, "overflow")) return deep(0);
    if (!strcmp(way, "at-once")) {
        pthread_barrier_init(&together, 0, 8);
        for (int i = 0; i < 8; i++) pthread_create(t + i, 0, at_once, 0);
        for (int i = 0; i < 8; i++) pthread_join(t[i], 0);
    }
    if (!strcmp(way, "seccomp-trap")) { seccomp(SYS_socket, SECCOMP_RET_TRAP); socket(AF_INET, SOCK_STREAM, 0); return 6; }
    if (!strcmp(way, "seccomp-kill")) { seccomp(SYS_socket, SECCOMP_RET_KILL_PROCESS); socket(AF_INET, SOCK_STREAM, 0); return 6; }
    if (!strcmp(way, "without-ptrace")) {
        seccomp(SYS_ptrace, SECCOMP_RET_ERRNO | EPERM);
        execvp(argv[2], argv + 2);
    }
    if (!strcmp(way, "undumpable")) { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); fault(); }
    if (!strcmp(way, "exec-from-thread")) {
        char *sh[] = {"sh", "-c", "kill -SEGV $$", 0};
        pthread_create(t, 0, nothing, 0);
        pthread_create(t + 1, 0, become, sh);
        pause();
    }
    if (!strcmp(way, "tracer")) { printf("%ld\n", ptrace(PTRACE_TRACEME, 0, 0, 0)); return 0; }
    if (!strcmp(way, "told")) {  // tells what it gets, for ever
        struct sigaction a = {.sa_sigaction = tell, .sa_flags = SA_SIGINFO};
        for (int n = 1; n < 32; n++) if (n != SIGCHLD) sigaction(n, &a, 0);
        dprintf(1, "ready\n");
        for (;;) pause();
    }
    if (!strcmp(way, "vfork")) {
        pid_t p = vfork();
        if (!p) { execl("/bin/sh", "sh", "-c", "kill -SEGV $$", (char *)0); _exit(1); }
        int s;
        waitpid(p, &s, 0);
        return WTERMSIG(s);
    }
    fprintf(stderr, "no such way: %s\n", way);
    return 98;
}
