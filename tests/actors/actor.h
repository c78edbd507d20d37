/* SPDX-License-Identifier: MIT */
/*
 * An actor in C: a program that uses a store by commands, one a line (README.md lists them). This
 * header describes the stores and nodes that it has open.
 */
#ifndef ZB_TEST_ACTOR_H
#define ZB_TEST_ACTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "zarrbridge/write.h"

/* A node that was used once, and its writer. `key` is its path, perhaps with `#name` behind it: so
   one program can have several handles of one node. */
typedef struct item {
    struct item *next;
    char *key;
    zb_node *node;
    zb_writer *writer; /* NULL until the first write */
} item;

/* A store that is open, with everything opened through it. */
typedef struct session {
    struct session *next;
    char *name;
    zb_hierarchy *store;
    zb_write_options options; /* of its writers */
    item *items;
} session;

/* A command's words; missing ones are "". */
enum { WORDS = 8 };
typedef struct command {
    session *at;             /* the session that the first word names; NULL for `open` */
    const char *word[WORDS]; /* word[0] is the command itself, word[1] the session */
} command;

/* Answers with `ok` when code is ZB_OK, else with the error. */
void answer(enum zb_code code, const zb_error *err);
/* The same for a senseless command, which is an error of the test. */
void answer_usage(const char *what);

/* Commands that concern boxes of elements; all answer. */
void do_write(const command *c);
void do_read(const command *c);
void do_flush(const command *c);
void do_sync(const command *c);

/* Finds the item of word[2], or opens it; NULL after an error. */
item *item_of(const command *c, zb_error *err);
/* Reads "AxB" or "A,B". */
bool parse_pair(const char *text, uint64_t pair[2]);

#endif
