/* A library of the user's own, and a module of a package (-DMODULE=...): each function goes wrong in one way. */
#define _GNU_SOURCE
#ifdef MODULE
#include <Python.h>
#endif
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static volatile int sink;

__attribute__((noinline)) void null_write(void) {
    *(volatile int *)(volatile long)8 = 1; /* here: null_write */
    sink++;
}

__attribute__((noinline)) void past_end(void) {
    char *block = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(block + 4096, 4096, PROT_NONE);
    for (volatile int n = 0; n < 8192; n++)
        ((volatile char *)block)[n] = 1; /* here: past_end */
}

__attribute__((noinline)) void twice(void) {
    char *volatile block = malloc(40), *volatile other = malloc(40);
    free(block);
    free(block); /* here: twice */
    sink = *other;
}

__attribute__((noinline)) int deep(int n) { volatile char room[4096]; room[n % 4096] = n; return deep(n + 1) + room[0]; } /* here: deep */

__attribute__((noinline)) int divide(int a, int b) {
    return sink = a / b; /* here: divide */
}

__attribute__((noinline)) void insist(int n) {
    assert(n > 0); /* here: insist */
    sink = n;
}

__attribute__((noinline)) void write_first(volatile char *to) {
    to[0] = 1; /* here: write_first */
    sink++;
}

static void *work(void *nothing) {
    null_write();
    return nothing;
}

void in_thread(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
}

void smash(void) {
    char room[8];
    memset(room, 1, 64 + sink);
    sink = room[sink & 7];
} /* here: smash */

#ifdef MODULE
static PyObject *py_insist(PyObject *self, PyObject *n) {
    insist((int)PyLong_AsLong(n));
    Py_RETURN_NONE;
}

static PyObject *py_touch(PyObject *self, PyObject *n) {
    write_first((char *)PyLong_AsLong(n));
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"insist", py_insist, METH_O, ""}, {"touch", py_touch, METH_O, ""}, {0}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_core", "", -1, methods};
PyMODINIT_FUNC PyInit__core(void) { return PyModule_Create(&module); }
#endif
