/* SPDX-License-Identifier: MIT */
/* The changes during which faults happen: every operation that writes. */
#ifndef ZB_TEST_FAULT_SCENARIOS_H
#define ZB_TEST_FAULT_SCENARIOS_H

#include "world.h"

typedef struct scenario {
    const char *name;
    /* Makes the change. When some or all of it has been made by a run that was stopped, the rest is
       done. */
    enum zb_code (*run)(zb_hierarchy *hierarchy, zb_error *err);
    bool consolidated; /* also with consolidated metadata at the root */
    const char *live;  /* array whose shards are changed in place, by a strategy; or NULL */
    const char *split; /* array whose chunks two writers change, each a part of them; or NULL */
    uint64_t part[2];  /* of a chunk: no two of them write into one */
    void (*verify)(const char *root); /* looks at the result more closely; or NULL */
} scenario;

extern const scenario scenarios[];

/* Does ZB_FAULT_ONLY, which names one, allow the scenario of this name? */
bool scenario_is_chosen(const char *name);

/* How far apart the faults of a run are: by the length of tests; 1 with ZB_FAULT_ONLY. */
uint64_t scenario_stride(uint64_t stride);

/* Calls run for each scenario that is chosen, and once more with consolidated metadata where it
   takes place with them, too. stride: for scenario_stride. */
void scenarios_each(void (*run)(const scenario *s, bool consolidated, uint64_t stride),
                    uint64_t stride);

/* When set, a call of a writer that failed is made again, through the same writer, once this was
   called: it says that the fault is over. */
extern void (*scenario_over)(void);

/* The directory of the store that scenario_run opened. */
extern const char *scenario_root;

/* Makes a call, and once more when it failed and the fault is over. */
#define PERSIST(code, call)                                                                        \
    do {                                                                                           \
        (code) = (call);                                                                           \
        if ((code) && scenario_over) {                                                             \
            scenario_over();                                                                       \
            (code) = (call);                                                                       \
        }                                                                                          \
    } while (0)

/* Writes world_value(1, ...) to a box of an array; reads all elements of an array. */
enum zb_code scenario_write(zb_hierarchy *hierarchy, const char *path, uint64_t row,
                            uint64_t column, uint64_t rows, uint64_t columns, zb_error *err);
enum zb_code scenario_read(zb_hierarchy *hierarchy, const char *path, zb_error *err);

/* Changes the shape; moves a node, or does the rest of it after a kill. */
enum zb_code scenario_resize(zb_hierarchy *hierarchy, const char *path, uint64_t rows,
                             uint64_t columns, zb_error *err);
enum zb_code scenario_move(zb_hierarchy *hierarchy, const char *from, const char *to,
                           zb_error *err);

/* These parts of the snapshot from before the scenario are compared on their own. */
void scenario_split(const scenario *s, world_snapshot *before);

/* Opens the directory as a new store and runs the scenario. */
enum zb_code scenario_run(const scenario *s, const char *root, zb_error *err);

#endif
