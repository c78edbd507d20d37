/* SPDX-License-Identifier: MIT */
#include "parties.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

int parties_rounds(int usual) {
    return check_test_length() == CHECK_FULL ? 5 * usual : usual;
}

/* Waits for one of them, whose place in `child` becomes 0; whether it has succeeded. What an
   earlier test that failed has left is none of them. */
static bool one_succeeds(pid_t *child, int count) {
    for (;;) {
        int status;
        const pid_t ended = waitpid(-1, &status, 0);
        assert_true(ended > 0);
        for (int i = 0; i < count; i++) {
            if (child[i] != ended)
                continue;
            child[i] = 0;
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        }
    }
}

/* Waits for all. The first that fails ends the others, which may wait for what it has not done. */
static bool all_succeed(pid_t *child, int count) {
    bool good = true;
    for (int ended = 0; ended < count; ended++) {
        if (one_succeeds(child, count) || !good)
            continue;
        good = false;
        for (int i = 0; i < count; i++) {
            if (child[i])
                kill(child[i], SIGKILL);
        }
    }
    return good;
}

void parties_run_processes(int count, party_fn fn) {
    pid_t child[PARTIES];
    fflush(NULL);
    for (int i = 0; i < count; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] == 0) {
            fn(i);
            fflush(NULL);
            _exit(0);
        }
    }
    assert_true(all_succeed(child, count));
}

typedef struct thread_party {
    party_fn fn;
    int number;
} thread_party;

static void *thread_main(void *context) {
    thread_party *p = context;
    p->fn(p->number);
    return NULL;
}

void parties_run_threads(int count, party_fn fn) {
    pthread_t thread[PARTIES];
    thread_party party[PARTIES];
    for (int i = 0; i < count; i++) {
        party[i] = (thread_party){fn, i};
        assert_int_equal(pthread_create(&thread[i], NULL, thread_main, &party[i]), 0);
    }
    for (int i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
}

zb_hierarchy *parties_open_store(const char *root) {
    zb_hierarchy *hierarchy;
    zb_error err;
    MUST(zb_hierarchy_open(root, &hierarchy, &err), err);
    return hierarchy;
}

zb_node *parties_open_node(const char *root, const char *path) {
    zb_hierarchy *hierarchy = parties_open_store(root);
    zb_node *node;
    zb_error err;
    MUST(zb_node_open(hierarchy, path, &node, &err), err);
    zb_hierarchy_release(hierarchy);
    return node;
}
