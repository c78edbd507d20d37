/* SPDX-License-Identifier: MIT */
/*
 * The JSON document of a call with --json. It is one object; without a list it is the summary
 * itself, with one it is {"LIST": [item, ...], "summary": {...}}. A failure gives the member
 * "error": {"code": "ZB_ENOTFOUND", "message": "..."}, in place of the summary. Items are printed
 * as they come, each on a line, so that a list may be longer than memory.
 *
 * Without --json only the check of standard output and the errors are left of all this.
 */
#ifndef ZB_CLI_REPORT_H
#define ZB_CLI_REPORT_H

#include "cli.h"
#include "zarrbridge/json.h"

typedef struct report {
    const cli_call *call;
    bool has_list, follows, failed;
} report;

/* list: a name, or NULL for a document without one. */
report report_begin(const cli_call *call, const char *list);

/* One item of the list; ends the writer. Returns nonzero where it cannot be printed. */
int report_item(report *r, zb_json_writer *item);

/* summary: an object, whose writer is ended; NULL without --json. Returns status, or CLI_FAILED
   where standard output has not taken all. */
int report_end(report *r, zb_json_writer *summary, int status);

/* Tells the error on standard error, too. Returns CLI_FAILED. */
int report_fail(report *r, const zb_error *err);

/* A writer with an object begun, for a document, summary or item; NULL (which writers allow) where
   there is no --json. */
zb_json_writer *report_object(const cli_call *call);

/* Members of it. Texts may come from a store: what is not UTF-8 is written as print_text writes
   control characters. NULL is null. */
void report_text(zb_json_writer *w, const char *name, const char *text);
void report_path(zb_json_writer *w, const char *path); /* "path": "/a/b" */
void report_paths(zb_json_writer *w, const char *name, char *const *paths, size_t count);
void report_number(zb_json_writer *w, const char *name, uint64_t value);
void report_flag(zb_json_writer *w, const char *name, bool value);
void report_extents(zb_json_writer *w, const char *name, const uint64_t *extents, uint32_t count);
/* A value that was parsed. NULL is null. NaN and infinities, which JSON lacks, become strings. */
void report_value(zb_json_writer *w, const char *name, const zb_json *value);

#endif
