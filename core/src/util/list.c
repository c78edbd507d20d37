/* SPDX-License-Identifier: MIT */
#include "util/list.h"

#include <stdlib.h>
#include <string.h>

/* The first block is one of those that malloc keeps at hand for each thread: most lists stay short,
   and a read makes two. Bytes. */
#define FIRST_BLOCK 768
#define FIRST_MOST 16 /* items */

static size_t first_count(size_t size) {
    const size_t count = size ? FIRST_BLOCK / size : FIRST_MOST;
    return count > FIRST_MOST ? FIRST_MOST : count > 0 ? count : 1;
}

/* The pointer is copied, not used as a void *, which its type would not allow. */
bool zb__list_grow(void *items, size_t count, size_t *capacity, size_t size) {
    void *old;
    size_t bytes;
    if (count < *capacity)
        return true;
    size_t wanted = *capacity ? 2 * *capacity : first_count(size);
    if (__builtin_mul_overflow(wanted, size, &bytes))
        return false;
    memcpy(&old, items, sizeof old);
    void *grown = realloc(old, bytes);
    if (!grown)
        return false;
    memcpy(items, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}
