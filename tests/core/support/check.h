/* SPDX-License-Identifier: MIT */
/*
 * The helpers of most core tests: cmocka with the headers that it wants before itself, a seeded
 * random number generator, and code that runs in a child process of its own (for limits, which are
 * read once per process, for forks, and for damage that must not outlive the test).
 */
#ifndef ZB_TEST_CHECK_H
#define ZB_TEST_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "zarrbridge/zarrbridge.h"

/* The call succeeds; otherwise its message is shown. `error` must be in scope. */
#define ASSERT_OK(call, error)                                                                     \
    do {                                                                                           \
        enum zb_code code_ = (call);                                                               \
        if (code_ != ZB_OK)                                                                        \
            fail_msg("%s: %s: %s", #call, zb_code_name(code_), (error).message);                   \
    } while (0)

/* The call fails with this code, and the message contains the text. */
#define ASSERT_FAILS(call, expected, error, text)                                                  \
    do {                                                                                           \
        (error).message[0] = '\0';                                                                 \
        enum zb_code code_ = (call);                                                               \
        if (code_ != (expected) || (error).code != (expected) || !strstr((error).message, (text))) \
            fail_msg("%s gave %s: %s; expected %s with '%s'", #call, zb_code_name(code_),          \
                     (error).message, zb_code_name(expected), (text));                             \
    } while (0)

/* In a child process cmocka's assertions would jump into the parent's runner: this ends the
   child. */
#define CHILD_CHECK(condition, ...)                                                                \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);                        \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
            _Exit(1);                                                                              \
        }                                                                                          \
    } while (0)

/* Runs fn(context) in a child whose environment has variable=value as well (NULL: unchanged).
   True when it returned. */
bool check_in_child(void (*fn)(void *context), void *context, const char *variable,
                    const char *value);

/* True if the program runs under a sanitizer that replaces malloc. Its shadow is larger than any
   bound on the address space. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CHECK_SANITIZED_MALLOC true
#else
#define CHECK_SANITIZED_MALLOC false
#endif

/* True if a child can be forked, and use malloc, while other threads are inside malloc. glibc holds
   its locks over a fork; the sanitizers' allocators do not, and the child would wait for ever. */
#define CHECK_FORKS_WHILE_BUSY (!CHECK_SANITIZED_MALLOC)

/* How much a test does that could go on for ever, by ZARRBRIDGE_TEST_LENGTH: `short` unless given,
   `long` in `tools/test --all`, or `full`, which takes hours. */
typedef enum check_length { CHECK_SHORT, CHECK_LONG, CHECK_FULL } check_length;
check_length check_test_length(void);

/* Waits until a thread of this process sleeps: it has come to where it waits for another one, and
   does nothing more before that comes. *thread is, or becomes, its id (gettid). False when it has
   ended instead. A lock that is held for a moment only is not meant: the thread sleeps through two
   looks. */
bool check_await_sleep(const atomic_int *thread);

/* A generator that starts from ZARRBRIDGE_SEED, or from 1, and prints its seed. */
typedef struct check_random {
    uint64_t state;
} check_random;
check_random check_random_new(void);
uint64_t check_random_next(check_random *random);
/* Uniform enough in [low, high]. */
uint64_t check_random_in(check_random *random, uint64_t low, uint64_t high);

/* How many descriptors the process has open. */
int check_descriptors(void);

/* A new empty directory below the system's directory for temporary files; removed by
   check_remove_directory. */
char *check_new_directory(void);
void check_remove_directory(char *path);
/* Writes a file of this content; its directories are made. */
void check_write_file(const char *root, const char *key, const void *data, size_t size);

#endif
