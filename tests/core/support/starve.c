/* SPDX-License-Identifier: MIT */
#include "support/starve.h"

#include <stdbool.h>
#include <stdlib.h>

static bool starving;
static size_t left, denied;

static bool deny(void) {
    if (!starving)
        return false;
    if (left > 0) {
        left--;
        return false;
    }
    denied++;
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
    left = allocations;
    denied = 0;
    starving = true;
}

size_t starve_end(void) {
    starving = false;
    return denied;
}
