/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static atomic_bool starving;
static bool starving_forever;
static uint64_t target;
static const char *only; /* NULL: allocations of all objects */
static atomic_uint_fast64_t allocations, denied;

void memory_begin(uint64_t nth, bool forever) {
    target = nth;
    starving_forever = forever;
    atomic_store(&allocations, 0);
    atomic_store(&denied, 0);
    atomic_store(&starving, true);
}

uint64_t memory_end(void) {
    atomic_store(&starving, false);
    return atomic_load(&allocations);
}

uint64_t memory_denied(void) {
    return atomic_load(&denied);
}

void memory_only(const char *object) {
    only = object;
}

/* A function of its own: AddressSanitizer asks for memory for its variable, which deny() cannot let
   it do before the sanitizer has begun. */
__attribute__((noinline)) static bool is_meant(const void *caller) {
    Dl_info info;
    return !only || (dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, only));
}

static bool deny(const void *caller) {
    if (!atomic_load_explicit(&starving, memory_order_relaxed) || !is_meant(caller))
        return false;
    uint64_t n = atomic_fetch_add(&allocations, 1) + 1;
    if (n < target || (n > target && !starving_forever))
        return false;
    atomic_fetch_add(&denied, 1);
    errno = ENOMEM;
    return true;
}

/* dlsym is not expected to allocate when it finds the symbol. */
#define NEXT(name, type)                                                                           \
    static type _Atomic real;                                                                      \
    if (!atomic_load_explicit(&real, memory_order_relaxed))                                        \
    atomic_store(&real, (type)(uintptr_t)dlsym(RTLD_NEXT, name))

EXPORT void *malloc(size_t size) {
    typedef void *(*function)(size_t);
    NEXT("malloc", function);
    return deny(__builtin_return_address(0)) ? NULL : real(size);
}

EXPORT void *calloc(size_t count, size_t size) {
    typedef void *(*function)(size_t, size_t);
    NEXT("calloc", function);
    return deny(__builtin_return_address(0)) ? NULL : real(count, size);
}

EXPORT void *realloc(void *block, size_t size) {
    typedef void *(*function)(void *, size_t);
    NEXT("realloc", function);
    return deny(__builtin_return_address(0)) ? NULL : real(block, size);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size) {
    typedef void *(*function)(size_t, size_t);
    NEXT("aligned_alloc", function);
    return deny(__builtin_return_address(0)) ? NULL : real(alignment, size);
}

EXPORT void *memalign(size_t alignment, size_t size) {
    typedef void *(*function)(size_t, size_t);
    NEXT("memalign", function);
    return deny(__builtin_return_address(0)) ? NULL : real(alignment, size);
}

EXPORT int posix_memalign(void **out, size_t alignment, size_t size) {
    typedef int (*function)(void **, size_t, size_t);
    NEXT("posix_memalign", function);
    return deny(__builtin_return_address(0)) ? ENOMEM : real(out, alignment, size);
}
