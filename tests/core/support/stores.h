/* SPDX-License-Identifier: MIT */
/* Stores in memory, nodes and objects for tests of other things: a call that fails, fails the
   test. */
#ifndef ZB_TEST_STORES_H
#define ZB_TEST_STORES_H

#include "support/check.h"

zb_hierarchy *stores_new_mem(void); /* empty, called "mem" */
zb_node *stores_open_node(zb_hierarchy *hierarchy, const char *path);
char *stores_get(zb_hierarchy *hierarchy, const char *key, size_t *size); /* the caller frees */

#endif
