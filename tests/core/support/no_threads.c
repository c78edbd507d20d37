/* SPDX-License-Identifier: MIT */
/*
 * Part of each test that is not run under the thread sanitizer: a thread that the core or the test
 * starts ends the program.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *data);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *data) {
    (void)thread, (void)attributes, (void)run, (void)data;
    fputs("this test starts a thread: it belongs in ZB_THREADS of tests/core/CMakeLists.txt\n",
          stderr);
    abort();
}
