/* SPDX-License-Identifier: MIT */
/*
 * A line on standard error that shows how far a call is: on a terminal alone, and not where the
 * call is quiet. It is drawn anew five times a second by a thread of its own, and gone at the end.
 * NULL, which all functions take, stands for a call without one.
 */
#ifndef ZB_CLI_PROGRESS_H
#define ZB_CLI_PROGRESS_H

#include "cli.h"
#include "zarrbridge/hierarchy.h"

typedef struct progress progress;

/* hierarchy: that whose chunks the work goes through, or NULL where it tells none. path: the node
   with all below it that the work is about. What is stored of it is counted meanwhile where the
   store is local. Both last until progress_end. */
progress *progress_begin(const cli_call *call, zb_hierarchy *hierarchy, const char *path);

/* The part of the work that is done, from 0 to 1, where the work tells that. */
void progress_set(progress *p, double done);

/* Around lines that others print: the progress is not between them. */
void progress_pause(progress *p);
void progress_resume(progress *p);

void progress_end(progress *p);

#endif
