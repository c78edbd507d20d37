/* SPDX-License-Identifier: MIT */
#include "change/block_map.h"

#include <stdlib.h>
#include <string.h>

#include "hierarchy/path.h"
#include "util/json.h"
#include "util/json_skip.h"

/* ---- Rows --------------------------------------------------------------------------------- */

void zb__map_rows_free(zb__map_rows *rows) {
    for (size_t i = 0; i < rows->count; i++) {
        free(rows->item[i].path);
        free(rows->item[i].entry);
    }
    free(rows->item);
}

/* zarr-python folds the case of all letters; here only of ASCII ones. The order only serves human
   readers. */
static int compare_paths(const char *x, const char *y) {
    size_t x_depth = zb__path_depth(x), y_depth = zb__path_depth(y);
    if (x_depth != y_depth)
        return x_depth < y_depth ? -1 : 1;
    int order = strcasecmp(x, y);
    return order ? order : strcmp(x, y);
}

static int compare_rows(const void *a, const void *b) {
    return compare_paths(((const zb__map_row *)a)->path, ((const zb__map_row *)b)->path);
}

void zb__map_rows_sort(zb__map_rows *rows) {
    if (rows->count > 0)
        qsort(rows->item, rows->count, sizeof *rows->item, compare_rows);
}

/* ---- Paths that have changed -------------------------------------------------------------- */

/* True if the list, which is sorted, has the path of `length` bytes. */
static bool has_path(const zb__names *sorted, const char *path, size_t length) {
    size_t low = 0, high = sorted->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *name = sorted->name[middle].text;
        int order = strncmp(name, path, length);
        if (order == 0 && name[length] == '\0')
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* The same for the path or one above it. */
static bool has_above(const zb__names *sorted, const char *path) {
    for (const char *end = path; sorted->count > 0; end++) {
        if ((*end == '/' || *end == '\0') && has_path(sorted, path, (size_t)(end - path)))
            return true;
        if (*end == '\0')
            return false;
    }
    return false;
}

/* ---- Writing ------------------------------------------------------------------------------ */

/* A map in the making. A run of old entries that stay, with the commas and white space between
   them, is one piece of the old text. */
typedef struct making {
    const zb__map_change *c;
    zb__text_parts *text;
    const char *before, *after; /* white space before each entry, and behind the last; or NULL */
    size_t before_size, after_size;
    bool follows;     /* an entry came before */
    size_t next;      /* of the rows: the first that has not come */
    size_t from, to;  /* the run that has not been put yet; empty when both are the same */
    zb__text path;    /* of the old entry at hand, in the store */
    size_t path_size; /* bytes of it that are the group's path, and a slash */
} making;

/* Writes what separates an entry from the one before it: a comma, and the white space of the old
   block. */
static void begin_entry(making *m) {
    if (m->follows)
        zb__text_parts_copy(m->text, ",", 1);
    m->follows = true;
    if (m->before)
        zb__text_parts_copy(m->text, m->before, m->before_size);
    else if (m->c->lines)
        zb__text_parts_add_line(m->text, ZB__ENTRY_LEVEL);
}

static void put_run(making *m) {
    if (m->to > m->from) {
        begin_entry(m);
        zb__text_parts_borrow(m->text, m->c->old->text + m->from, m->to - m->from);
    }
    m->from = m->to = 0;
}

/* The next row comes before this path; all do before NULL. */
static bool row_comes(const making *m, const char *before) {
    const zb__map_rows *rows = m->c->rows;
    return m->next < rows->count &&
           (!before || compare_paths(rows->item[m->next].path, before) <= 0);
}

static void put_rows(making *m, const char *before) {
    for (; row_comes(m, before); m->next++) {
        const zb__map_row *row = &m->c->rows->item[m->next];
        begin_entry(m);
        zb__text_parts_copy(m->text, row->entry, row->size);
    }
}

/* The old entry at hand: it stays unless its node has been put or erased. */
static enum zb_code put_old(making *m, const zb__json_members *member, zb_error *err) {
    m->path.size = m->path_size;
    zb__text_add(&m->path, member->name);
    if (m->path.failed)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a path");
    const bool stays =
        !has_path(m->c->put, m->path.data, m->path.size) && !has_above(m->c->erased, m->path.data);
    if (!stays || row_comes(m, member->name))
        put_run(m);
    put_rows(m, member->name);
    if (!stays)
        return ZB_OK;
    if (m->to == 0)
        m->from = member->place.name;
    m->to = member->place.end;
    return ZB_OK;
}

/* The white space within the brackets of the old map, where it has entries. */
static void find_style(making *m) {
    const char *text = m->c->old->text;
    const char *first = text + m->c->place.begin + 1, *end = text + m->c->place.end - 1;
    const size_t size = strspn(first, " \t\r\n");
    if (first[size] != '"')
        return;
    m->before = first;
    m->before_size = size;
    m->after = end;
    while (strchr(" \t\r\n", m->after[-1]))
        m->after--;
    m->after_size = (size_t)(end - m->after);
}

static enum zb_code put_olds(making *m, zb_error *err) {
    const zb__map_change *c = m->c;
    zb__json_members members;
    size_t count;
    bool there = true;
    enum zb_code code = ZB_OK;
    find_style(m);
    zb__text_add(&m->path, c->group);
    zb__text_add(&m->path, *c->group ? "/" : "");
    m->path_size = m->path.size;
    const zb_json_place *places = zb__json_left_out(c->old->json, &count);
    zb__json_members_begin(&members, c->old->text, c->old->size, places, count);
    while (there && !code) {
        code = zb__json_members_next(&members, &there, err);
        if (!code && there)
            code = put_old(m, &members, err);
    }
    put_run(m);
    zb__json_members_end(&members);
    free(m->path.data);
    return code;
}

enum zb_code zb__map_write(const zb__map_change *change, zb__text_parts *text, zb_error *err) {
    making m = {.c = change, .text = text};
    zb__text_parts_copy(text, "{", 1);
    enum zb_code code = change->old ? put_olds(&m, err) : ZB_OK;
    put_rows(&m, NULL);
    if (m.follows && m.after)
        zb__text_parts_copy(text, m.after, m.after_size);
    else if (m.follows && change->lines)
        zb__text_parts_add_line(text, ZB__MAP_LEVEL);
    zb__text_parts_copy(text, "}", 1);
    return code;
}
