/* SPDX-License-Identifier: MIT */
/*
 * Boxes of 64-bit elements. Each element names its writer and its place: the token of the write
 * above the lower 16 bits, the row and column in them. So a value in the wrong place and a value
 * that no actor wrote can be recognised by themselves.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor.h"
#include "zarrbridge/read.h"
#include "zarrbridge/write.h"

static const zb_dtype element = {ZB_KIND_INT, 8, false, NULL};
static const int64_t fill = -1;

enum { SIDE_MAX = 256 }; /* rows and columns have 8 bits each */

/* Where a box lies: word[3] is its corner, word[4] its size. */
static bool parse_box(const command *c, uint64_t start[2], uint64_t count[2]) {
    return parse_pair(c->word[3], start) && parse_pair(c->word[4], count) &&
           start[0] + count[0] <= SIDE_MAX && start[1] + count[1] <= SIDE_MAX;
}

static void fill_in(int64_t *values, const uint64_t start[2], const uint64_t count[2],
                    const char *token) {
    bool erase = strcmp(token, "fill") == 0;
    int64_t number = strtoll(token, NULL, 10);
    for (uint64_t i = 0; i < count[0] * count[1]; i++) {
        uint64_t row = start[0] + i / count[1], column = start[1] + i % count[1];
        values[i] = erase ? fill : number * 65536 + (int64_t)(row * 256 + column);
    }
}

void do_write(const command *c) {
    static int64_t values[SIDE_MAX * SIDE_MAX];
    uint64_t start[2], count[2];
    zb_error err;
    if (!parse_box(c, start, count) || !*c->word[5]) {
        answer_usage("write SESSION NODE ROW,COLUMN ROWSxCOLUMNS TOKEN|fill");
        return;
    }
    fill_in(values, start, count, c->word[5]);
    item *i = item_of(c, &err);
    enum zb_code code = i ? ZB_OK : err.code;
    if (!code && !i->writer)
        code = zb_writer_open(i->node, &c->at->options, &i->writer, &err);
    zb_write write = {.start = start, .count = count, .data = values, .dtype = element};
    if (!code)
        code = zb_writer_write(i->writer, &write, &err);
    answer(code, &err);
}

void do_read(const command *c) {
    static int64_t values[SIDE_MAX * SIDE_MAX];
    uint64_t start[2], count[2];
    zb_error err;
    if (!parse_box(c, start, count)) {
        answer_usage("read SESSION NODE ROW,COLUMN ROWSxCOLUMNS");
        return;
    }
    item *i = item_of(c, &err);
    enum zb_code code = i ? ZB_OK : err.code;
    zb_read read = {.start = start, .count = count, .view = {.data = values, .dtype = element}};
    if (!code) {
        read.node = i->node;
        code = zb_array_read(&read, 1, &err);
    }
    if (code) {
        answer(code, &err);
        return;
    }
    size_t size = (size_t)(count[0] * count[1]) * sizeof *values;
    printf("bytes %zu\n", size);
    fwrite(values, 1, size, stdout);
    fflush(stdout);
}

void do_flush(const command *c) {
    zb_error err;
    item *i = item_of(c, &err);
    enum zb_code code = i ? ZB_OK : err.code;
    if (!code && i->writer)
        code = zb_writer_flush(i->writer, &err);
    answer(code, &err);
}

/* All writers, and then the store itself; the first error counts. */
void do_sync(const command *c) {
    zb_error err, other;
    enum zb_code first = ZB_OK;
    for (item *i = c->at->items; i; i = i->next) {
        enum zb_code code = i->writer ? zb_writer_flush(i->writer, first ? &other : &err) : ZB_OK;
        first = first ? first : code;
    }
    enum zb_code code = zb_hierarchy_flush(c->at->store, first ? &other : &err);
    answer(first ? first : code, &err);
}
