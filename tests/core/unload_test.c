/* SPDX-License-Identifier: MIT */
/*
 * A program that loads the shared library, works with several threads and unloads it: the library's
 * threads, and its handlers that the system calls at forks, must not run into code that is gone.
 */
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "zarrbridge/change.h"
#include "zarrbridge/read.h"
#include "zarrbridge/write.h"

enum { SIDE = 256, CHUNK = 16 };

/* The functions used, found in the library: this program links none of it. */
typedef struct library {
    void *handle;
    enum zb_code (*create)(const char *, const zb_store_settings *, zb_hierarchy **, zb_error *);
    enum zb_code (*array_create)(zb_hierarchy *, const char *, const zb_array_spec *, zb_node **,
                                 zb_error *);
    enum zb_code (*writer_open)(const zb_node *, const zb_write_options *, zb_writer **,
                                zb_error *);
    enum zb_code (*writer_write)(zb_writer *, const zb_write *, zb_error *);
    enum zb_code (*writer_close)(zb_writer *, zb_error *);
    enum zb_code (*array_read)(const zb_read *, size_t, zb_error *);
    void (*node_release)(zb_node *);
    void (*hierarchy_release)(zb_hierarchy *);
} library;

/* Function pointers come as data pointers, which C does not convert. */
static void find(const library *l, const char *name, void *function) {
    void *symbol = dlsym(l->handle, name);
    CHILD_CHECK(symbol, "%s", name);
    memcpy(function, &symbol, sizeof symbol);
}

static library load(void) {
    library l = {.handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL)};
    CHILD_CHECK(l.handle, "%s", dlerror());
    find(&l, "zb_hierarchy_create", &l.create);
    find(&l, "zb_array_create", &l.array_create);
    find(&l, "zb_writer_open", &l.writer_open);
    find(&l, "zb_writer_write", &l.writer_write);
    find(&l, "zb_writer_close", &l.writer_close);
    find(&l, "zb_array_read", &l.array_read);
    find(&l, "zb_node_release", &l.node_release);
    find(&l, "zb_hierarchy_release", &l.hierarchy_release);
    return l;
}

#define MUST(call) CHILD_CHECK((call) == ZB_OK, "%s", err.message)

static int count_threads(void) {
    char line[100];
    int count = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        (void)sscanf(line, "Threads: %d", &count);
    if (status)
        fclose(status);
    return count;
}

static void write_and_read(const library *l, const char *root, const char *path) {
    static int32_t values[SIDE * SIDE], back[SIDE * SIDE];
    zb_hierarchy *hierarchy;
    zb_node *node;
    zb_writer *writer;
    zb_error err;
    for (int32_t i = 0; i < SIDE * SIDE; i++)
        values[i] = i % 1000;
    zb_array_spec spec = {.ndim = 2,
                          .shape = (uint64_t[]){SIDE, SIDE},
                          .inner_shape = (uint64_t[]){CHUNK, CHUNK},
                          .dtype = {ZB_KIND_INT, 4, false, NULL}};
    zb_write write = {.data = values, .dtype = spec.dtype};
    MUST(l->create(root, NULL, &hierarchy, &err));
    MUST(l->array_create(hierarchy, path, &spec, &node, &err));
    MUST(l->writer_open(node, NULL, &writer, &err));
    MUST(l->writer_write(writer, &write, &err));
    MUST(l->writer_close(writer, &err));
    zb_read read = {.node = node, .view = {.data = back, .dtype = spec.dtype}};
    MUST(l->array_read(&read, 1, &err));
    CHILD_CHECK(memcmp(values, back, sizeof values) == 0, "other values come back");
    l->node_release(node);
    l->hierarchy_release(hierarchy);
}

/* A fork runs the handlers of all libraries. */
static void use_and_unload(void *context) {
    const char *root = context;
    for (int round = 0; round < 2; round++) {
        library l = load();
        write_and_read(&l, root, round ? "b" : "a");
        CHILD_CHECK(count_threads() > 1, "no threads have been started");
        const void *code = dlsym(l.handle, "zb_array_read");
        Dl_info info;
        CHILD_CHECK(dlclose(l.handle) == 0, "%s", dlerror());
        CHILD_CHECK(count_threads() == 1 || dladdr(code, &info), "threads have lost their code");
        pid_t child = fork();
        CHILD_CHECK(child >= 0, "no fork");
        if (child == 0) {
            l = load();
            write_and_read(&l, root, round ? "d" : "c");
            _exit(0);
        }
        int status;
        CHILD_CHECK(waitpid(child, &status, 0) == child && status == 0, "status %d", status);
    }
    exit(0); /* with the handlers that run at a program's end */
}

static void the_library_may_be_unloaded(void **state) {
    (void)state;
    char *root = check_new_directory();
    assert_true(check_in_child(use_and_unload, root, "ZARRBRIDGE_NUM_THREADS", "4"));
    check_remove_directory(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_library_may_be_unloaded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
