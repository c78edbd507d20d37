/* SPDX-License-Identifier: MIT */
/*
 * A small sharded array, for tests of changing stored shards: a model of its values in C order, and
 * a scene in which a write is cut short by faults of the store. A helper that fails, fails the
 * test.
 */
#ifndef ZB_TEST_SHARDS_H
#define ZB_TEST_SHARDS_H

#include "support/stores.h"
#include "zarrbridge/write.h"

enum { SHARDS_ROWS = 20, SHARDS_COLUMNS = 30, SHARDS_ELEMENTS = SHARDS_ROWS * SHARDS_COLUMNS };

extern const zb_dtype shards_type; /* int32 */

/* The inner chunks' codecs for each strategy (NULL: the default). Changes in place need a checksum
   and no compression. */
extern const char *const shards_codecs[];

/* The array "a" of zeros: SHARDS_ROWS x SHARDS_COLUMNS in shards of 8 x 16 with inner chunks of
   4 x 4, ragged on both sides. */
zb_node *shards_create(zb_hierarchy *hierarchy, enum zb_strategy strategy);
/* The same in shards of 4, 12 and 8 rows, and of 16, 8 and 8 columns. */
zb_node *shards_create_uneven(zb_hierarchy *hierarchy, enum zb_strategy strategy);
zb_writer *shards_open_writer(const zb_node *node, enum zb_strategy strategy, enum zb_sync sync);

/* Writes a box and flushes it; the first error. */
enum zb_code shards_write(zb_writer *writer, const uint64_t *start, const uint64_t *count,
                          const int32_t *values, zb_error *err);

/* Does the same to a model. */
void shards_set_model(int32_t *model, const uint64_t *start, const uint64_t *count,
                      const int32_t *values);
/* The array's elements are those of the model. */
void shards_assert_holds(const zb_node *node, const int32_t *model);

/* The number of journals that lie in the store. */
int shards_journals(zb_hierarchy *hierarchy);

/* A store with an array of known values, and a box of others to write, at (5, 6): over inner chunks
   that are covered wholly and in part, in four shards when it is large. */
typedef struct shards_scene {
    zb_hierarchy *mem, *fault;
    zb_node *node, *direct; /* through the fault store, and past it */
    int32_t old[SHARDS_ELEMENTS], changed[SHARDS_ELEMENTS], values[SHARDS_ELEMENTS];
    uint64_t start[2], count[2];
} shards_scene;

shards_scene shards_new_scene(enum zb_strategy strategy, uint64_t rows, uint64_t columns);
void shards_free_scene(shards_scene *s);

/* Every inner chunk reads as the old or the new one, or not at all. Returns how many fail. */
int shards_damaged(const shards_scene *s);

/* A writer comes after the kill and changes one element of each shard: all elements can be read
   again. */
void shards_assert_healed(shards_scene *s, enum zb_strategy strategy);

#endif
