/* SPDX-License-Identifier: MIT */
/* Processes and threads that do something at once. */
#ifndef ZB_TEST_PARTIES_H
#define ZB_TEST_PARTIES_H

#include "support/check.h"

#define PARTIES 8

typedef void (*party_fn)(int party);

/* Runs fn in a process, or a thread, for each number below count (at most PARTIES), all at once;
   all must come to their end. A process that fails ends the others. */
void parties_run_processes(int count, party_fn fn);
void parties_run_threads(int count, party_fn fn);

/* The usual number of rounds, or five times as many in full tests (check.h). */
int parties_rounds(int usual);

/* A failure ends the process, the whole test when it is a thread's. */
#define MUST(call, err) CHILD_CHECK((call) == ZB_OK, "%s", (err).message)

/* A store and a node with handles of their own. */
zb_hierarchy *parties_open_store(const char *root);
zb_node *parties_open_node(const char *root, const char *path);

#endif
