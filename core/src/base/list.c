/* SPDX-License-Identifier: MIT */
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

#define FIRST 16 /* items */

/* The pointer is copied, not used as a void *, which its type would not allow. */
bool zb__list_grow(void *items, size_t count, size_t *capacity, size_t size) {
    void *old;
    size_t bytes;
    if (count < *capacity)
        return true;
    size_t wanted = *capacity ? 2 * *capacity : FIRST;
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
