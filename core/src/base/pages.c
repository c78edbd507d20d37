/* SPDX-License-Identifier: MIT */
#include "base/pages.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define CACHE_LINE ((size_t)64)

void *zb__pages_alloc(size_t size, size_t *capacity) {
    bool huge = size >= HUGE_PAGE;
    size_t unit = huge ? HUGE_PAGE : CACHE_LINE;
    size_t bytes = (size + unit - 1) & ~(unit - 1);
    if (bytes < size)
        return NULL;
    void *memory = aligned_alloc(unit, bytes ? bytes : unit);
    if (memory && huge)
        madvise(memory, bytes, MADV_HUGEPAGE); /* may fail: then the pages are small */
    if (capacity)
        *capacity = bytes;
    return memory;
}
