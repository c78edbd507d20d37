/* SPDX-License-Identifier: MIT */
/*
 * Scenarios of two at once, in a fixed order of their calls: two writers of one array, and a writer
 * beside a program that changes the structure. Members of the table in scenarios.c.
 */
#ifndef ZB_TEST_FAULT_SCENARIOS_TWO_H
#define ZB_TEST_FAULT_SCENARIOS_TWO_H

#include "scenarios.h"

/* Parts of the same shards, row by row in turn, through two stores on the directory. */
enum zb_code two_parts(zb_hierarchy *hierarchy, zb_error *err);
/* The same through one store, with sync=close. */
enum zb_code two_parts_synced(zb_hierarchy *hierarchy, zb_error *err);
/* Whole chunks of one array in turn, which wait for their flushes together. */
enum zb_code two_whole(zb_hierarchy *hierarchy, zb_error *err);
/* A part that is merged into a shard which waits for another writer's flush. */
enum zb_code whole_and_part(zb_hierarchy *hierarchy, zb_error *err);
/* Inner chunks of the same shards in turn, by a strategy. */
enum zb_code two_append(zb_hierarchy *hierarchy, zb_error *err);
enum zb_code two_inplace(zb_hierarchy *hierarchy, zb_error *err);

/* The writer has written a part and whole shards; then another program changes the array, through a
   store of its own; then the writer flushes. */
enum zb_code beside_attribute(zb_hierarchy *hierarchy, zb_error *err);
enum zb_code beside_growth(zb_hierarchy *hierarchy, zb_error *err);
enum zb_code beside_shrinking(zb_hierarchy *hierarchy, zb_error *err);
/* These changes make the writer's flush fail: its data are not stored. */
enum zb_code beside_move(zb_hierarchy *hierarchy, zb_error *err);
enum zb_code beside_delete(zb_hierarchy *hierarchy, zb_error *err);

#endif
