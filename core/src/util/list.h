/* SPDX-License-Identifier: MIT */
/* Arrays that grow. */
#ifndef ZB_UTIL_LIST_H
#define ZB_UTIL_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for one more item behind the `count` ones of an array that malloc gave. items: the
   address of the pointer to it (NULL when *capacity is 0); size: of one item. The capacity doubles,
   so that adding stays linear. False, with nothing changed, when memory runs out. */
bool zb__list_grow(void *items, size_t count, size_t *capacity, size_t size);

#endif
