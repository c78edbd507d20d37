/* SPDX-License-Identifier: MIT */
#include "util/pages.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define CACHE_LINE ((size_t)64)
/* The size from which on zb__pages_map asks the system. */
#define MAP_FROM ((size_t)1 << 20)

void *zb__pages_alloc(size_t size, size_t *capacity) {
    bool huge = size >= HUGE_PAGE;
    size_t bytes = (size + CACHE_LINE - 1) & ~(CACHE_LINE - 1);
    if (bytes < size)
        return NULL;
    void *memory;
    if (posix_memalign(&memory, huge ? HUGE_PAGE : CACHE_LINE, bytes ? bytes : CACHE_LINE) != 0)
        return NULL;
    /* The call may fail: then the pages are small. The rest has small pages, too: a huge one would
       take up to 2 MiB for it. */
    if (huge)
        madvise(memory, bytes & ~(HUGE_PAGE - 1), MADV_HUGEPAGE);
    if (capacity)
        *capacity = bytes;
    return memory;
}

/* The bytes that are mapped for `size` bytes: whole pages, also on machines whose pages have 64
   KiB. 0 when that overflows. */
static size_t mapped(size_t size) {
    size_t page = (size_t)64 << 10, bytes = (size + page - 1) & ~(page - 1);
    return bytes < size ? 0 : bytes;
}

void *zb__pages_map(size_t size) {
    size_t bytes = mapped(size), around;
    if (size < MAP_FROM)
        return zb__pages_alloc(size, NULL);
    if (bytes == 0 || __builtin_add_overflow(bytes, HUGE_PAGE, &around))
        return NULL;
    char *start = mmap(NULL, around, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    size_t before = -(uintptr_t)start & (HUGE_PAGE - 1); /* to the next huge page */
    if (before > 0)
        munmap(start, before);
    munmap(start + before + bytes, around - before - bytes);
    if (bytes >= HUGE_PAGE)
        madvise(start + before, bytes & ~(HUGE_PAGE - 1), MADV_HUGEPAGE); /* as above */
    return start + before;
}

void zb__pages_unmap(void *memory, size_t size) {
    if (size < MAP_FROM)
        free(memory);
    else if (memory)
        munmap(memory, mapped(size));
}
