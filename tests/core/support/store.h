/* SPDX-License-Identifier: MIT */
/* Stores in memory for the tests of writing metadata: their content, and whether it is right. */
#ifndef TESTS_CORE_META_STORE_H
#define TESTS_CORE_META_STORE_H

#include "support/check.h"
#include "zarrbridge/change.h"
#include "zarrbridge/write.h"

zb_hierarchy *store_new(void);

/* Waits until a change of the object is sure to give it another version. */
void store_let_age(zb_hierarchy *hierarchy, const char *key);

/* The object's text, or NULL when there is none. The caller frees it. */
char *store_text(zb_hierarchy *hierarchy, const char *key);
void store_set(zb_hierarchy *hierarchy, const char *key, const char *text);

/* The object's text is this; shown when not. NULL: there is no such object. */
void store_expect(zb_hierarchy *hierarchy, const char *key, const char *text);

/* All keys and objects of the store as one text, "key\ntext\n..." sorted by key. Equal stores give
   equal texts. Objects' bytes are cut at a NUL. */
char *store_dump(zb_hierarchy *hierarchy);

/* A new store with the same objects. */
zb_hierarchy *store_clone(zb_hierarchy *hierarchy);

/* A block of consolidated metadata of the root, where there is one, lists exactly the nodes of the
   store: each node below, with its document, and nothing else. */
void store_check_consolidated(zb_hierarchy *hierarchy);

/* The entries of such a block are true; it may leave out nodes. */
void store_check_truthful(zb_hierarchy *hierarchy);

/* Consolidates the root: makes its document anew with a block of all nodes below. */
void store_consolidate(zb_hierarchy *hierarchy);

/* A hierarchy: array a; group b with array c (two chunks) and group D with array e (one). */
zb_hierarchy *store_tree(bool consolidated);

/* A group, or an array of int16 [10,20] in chunks of [4,5], uncompressed, fill 7. Fails the test on
 * errors. */
zb_node *store_group(zb_hierarchy *hierarchy, const char *path, const char *attributes);
zb_node *store_array(zb_hierarchy *hierarchy, const char *path);
extern const zb_array_spec store_spec;

/* Resizes an array of two dimensions; the old node is released. */
zb_node *store_resize(zb_node *node, uint64_t rows, uint64_t columns);

/* Writes the value to all elements of an array of int16. */
void store_write_all(const zb_node *node, int16_t value);

#endif
