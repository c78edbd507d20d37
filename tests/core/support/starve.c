/* SPDX-License-Identifier: MIT */
#include "support/starve.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

/* Threads of the pool allocate, too. */
static atomic_bool starving;
static atomic_size_t asked, denied;
static size_t allowed; /* set while nothing is starving */

static bool deny(void) {
    if (!atomic_load(&starving) || atomic_fetch_add(&asked, 1) < allowed)
        return false;
    atomic_fetch_add(&denied, 1);
    return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t size);

void *__wrap_malloc(size_t size) {
    return deny() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return deny() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size) {
    return deny() ? NULL : __real_realloc(block, size);
}

char *__wrap_strdup(const char *text) {
    return deny() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t size) {
    return deny() ? NULL : __real_strndup(text, size);
}

void starve_begin(size_t allocations) {
    allowed = allocations;
    atomic_store(&asked, 0);
    atomic_store(&denied, 0);
    atomic_store(&starving, true);
}

size_t starve_end(void) {
    atomic_store(&starving, false);
    return atomic_load(&denied);
}

size_t starve_asked(void) {
    return atomic_load(&asked);
}
