/* SPDX-License-Identifier: MIT */
/*
 * Names and paths of nodes that have moved. A path has the name that the entry with the longest
 * value above it gives, and only if that name leads back to it. So no two names lead to one node,
 * and what was made where another node has been has no name before it is given one.
 */
#include "extension/moved.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "hierarchy/path.h"
#include "util/list.h"
#include "zarrbridge/limits.h"

typedef struct entry {
    char *name, *path; /* path NULL: deleted */
    bool is_needless;  /* drop_needless will drop it */
    bool is_new;       /* put_last will move it to the end */
} entry;

struct zb_moved {
    entry *entry; /* in the order in which they came */
    size_t count, capacity;
    size_t *by_name, *by_path; /* [count]: sorted; rebuilt after changes */
    bool is_sorted;
};

/* ---- Paths ---- */

/* Whole parts, each at least one byte and none of dots alone. */
static bool is_path(const char *path) {
    if (!*path)
        return true;
    for (const char *part = path;;) {
        const size_t size = strcspn(part, "/");
        if (size == strspn(part, ".") && size <= 2)
            return false; /* empty, too */
        if (!part[size])
            return true;
        part += size + 1;
    }
}

/* What follows `above` in a path: "" for itself, NULL when it is not below it. */
static const char *rest_below(const char *path, const char *above) {
    return strcmp(path, above) == 0 ? "" : zb__path_below(path, above);
}

static char *join(const char *above, const char *rest) {
    return *rest ? zb__path_join(above, rest) : strdup(above);
}

/* ---- Finding entries ---- */

static int compare_texts(const char *a, const char *b) {
    return !a || !b ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

static int by_name(const void *a, const void *b, void *entries) {
    const entry *list = entries;
    return strcmp(list[*(const size_t *)a].name, list[*(const size_t *)b].name);
}

static int by_path(const void *a, const void *b, void *entries) {
    const entry *list = entries;
    return compare_texts(list[*(const size_t *)a].path, list[*(const size_t *)b].path);
}

static bool sort(zb_moved *moved) {
    if (moved->is_sorted)
        return true;
    free(moved->by_name);
    free(moved->by_path);
    moved->by_name = malloc((moved->count + 1) * sizeof *moved->by_name);
    moved->by_path = malloc((moved->count + 1) * sizeof *moved->by_path);
    if (!moved->by_name || !moved->by_path)
        return false;
    for (size_t i = 0; i < moved->count; i++)
        moved->by_name[i] = moved->by_path[i] = i;
    qsort_r(moved->by_name, moved->count, sizeof *moved->by_name, by_name, moved->entry);
    qsort_r(moved->by_path, moved->count, sizeof *moved->by_path, by_path, moved->entry);
    return moved->is_sorted = true;
}

/* The entry with that name (or, with `paths`, at that path), by the first `size` bytes of a text;
   NULL for none. */
static const entry *find(const zb_moved *moved, const char *text, size_t size, bool paths) {
    size_t low = 0, high = moved->count;
    const size_t *order = paths ? moved->by_path : moved->by_name;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const entry *one = &moved->entry[order[middle]];
        const char *own = paths ? one->path : one->name;
        const int sign = own ? strncmp(own, text, size) : -1;
        if (sign == 0 && !own[size])
            return one;
        if (sign < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* The entry with the longest name (or path) that is a text's, of which the first `size` bytes
   count, or lies above it; *rest is what follows. Without one, *rest is the text. */
static const entry *longest(const zb_moved *moved, const char *text, size_t size, bool paths,
                            const char **rest) {
    for (;;) {
        const entry *one = find(moved, text, size, paths);
        if (one) {
            *rest = text + size + (text[size] == '/');
            return one;
        }
        if (size == 0)
            break;
        while (size > 0 && text[--size] != '/') {
        }
    }
    *rest = text;
    return NULL;
}

/* Where a name leads (or, of a path, the name that it would have), whether that leads back or not:
   malloc'ed; NULL for the name of what is deleted, and without memory. */
static char *follow(const zb_moved *moved, const char *text, bool is_path) {
    const char *rest;
    const entry *one = longest(moved, text, strlen(text), is_path, &rest);
    const char *to = !one ? "" : is_path ? one->name : one->path;
    return to ? join(to, rest) : NULL;
}

/* The same, if it leads back. */
static char *follow_and_return(const zb_moved *moved, const char *text, bool is_path) {
    if (!moved)
        return strdup(text);
    char *there = follow(moved, text, is_path);
    char *back = there ? follow(moved, there, !is_path) : NULL;
    if (!back || strcmp(back, text) != 0) {
        free(there);
        there = NULL;
    }
    free(back);
    return there;
}

bool zb_moved_is_plain(const zb_moved *moved) {
    return !moved || moved->count == 0;
}

char *zb_moved_path(const zb_moved *moved, const char *name) {
    return follow_and_return(moved, name, false);
}

bool zb__moved_is_known(const zb_moved *moved, const char *path) {
    bool is_known = !zb__path_is_aside(path);
    for (size_t i = 0; moved && i < moved->count && !is_known; i++)
        is_known = moved->entry[i].path && (rest_below(moved->entry[i].path, path) ||
                                            zb__path_below(path, moved->entry[i].path));
    return is_known;
}

char *zb_moved_name(const zb_moved *moved, const char *path) {
    return zb__moved_is_known(moved, path) ? follow_and_return(moved, path, true) : NULL;
}

/* ---- Sizes ---- */

/* At most what a text takes in the document: it stands in JSON in a string of JSON, where a quote
   takes four bytes, and a control character seven. */
static uint64_t bytes_of_text(const char *text) {
    uint64_t bytes = 0;
    for (; *text; text++)
        bytes += (unsigned char)*text < ' ' ? 7 : *text == '"' || *text == '\\' ? 4 : 1;
    return bytes;
}

/* With quotes, colon and comma. */
static uint64_t bytes_of(const entry *one) {
    return bytes_of_text(one->name) + (one->path ? bytes_of_text(one->path) : 0) + 16;
}

/* Of the whole member. */
static uint64_t most_bytes(void) {
    return zb_limits_get()->document_bytes / 8;
}

static enum zb_code fail_limit(zb_error *err) {
    return zb_fail(err, ZB_ELIMIT,
                   "the names of nodes that have moved take more than an eighth of a document "
                   "(limit document_bytes): h5repack makes a store without them");
}

/* ---- Parsing ---- */

static enum zb_code fail_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for the names of nodes that have moved");
}

/* Takes both texts over; a NULL name is a lack of memory. */
static bool add(zb_moved *moved, char *name, char *path) {
    if (!name ||
        !zb__list_grow(&moved->entry, moved->count, &moved->capacity, sizeof *moved->entry)) {
        free(name);
        free(path);
        return false;
    }
    moved->entry[moved->count++] = (entry){.name = name, .path = path};
    moved->is_sorted = false;
    return true;
}

/* Drops the entries that are marked, in one pass: a table may be long. */
static void drop_needless(zb_moved *moved) {
    size_t kept = 0;
    for (size_t i = 0; i < moved->count; i++) {
        if (!moved->entry[i].is_needless) {
            moved->entry[kept++] = moved->entry[i];
            continue;
        }
        free(moved->entry[i].name);
        free(moved->entry[i].path);
    }
    moved->is_sorted &= kept == moved->count;
    moved->count = kept;
}

void zb_moved_free(zb_moved *moved) {
    if (!moved)
        return;
    for (size_t i = 0; i < moved->count; i++)
        moved->entry[i].is_needless = true;
    drop_needless(moved);
    free(moved->entry);
    free(moved->by_name);
    free(moved->by_path);
    free(moved);
}

/* The names of an object are distinct, which the JSON parser checks. */
enum zb_code zb_moved_parse(const zb_json *member, zb_moved **out, zb_error *err) {
    *out = NULL;
    if (zb_json_kind_of(member) != ZB_JSON_OBJECT)
        return ZB_OK;
    zb_moved *moved = calloc(1, sizeof *moved);
    bool complete = moved != NULL;
    uint64_t bytes = 0;
    for (const zb_json *one = zb_json_first(member); one && complete && bytes <= most_bytes();
         one = zb_json_next(one)) {
        const char *path = zb_json_string(one);
        const bool is_gone = zb_json_kind_of(one) == ZB_JSON_NULL;
        if (!*zb_json_name(one) || !is_path(zb_json_name(one)) ||
            (!is_gone && (!path || !is_path(path))))
            continue;
        char *copy = path ? strdup(path) : NULL;
        complete = !path || copy;
        if (complete)
            complete = add(moved, strdup(zb_json_name(one)), copy);
        if (complete)
            bytes += bytes_of(&moved->entry[moved->count - 1]);
    }
    if (complete && bytes <= most_bytes() && sort(moved)) {
        *out = moved;
        return ZB_OK;
    }
    zb_moved_free(moved);
    return complete && bytes > most_bytes() ? fail_limit(err) : fail_memory(err);
}

/* ---- Changing ---- */

/* Whether a name looks like one that no path has: its last part ends so. */
static bool is_given(const char *name) {
    const char *mark = strrchr(name, ';');
    return mark && strlen(mark) == 17 && strspn(mark + 1, "0123456789abcdef") == 16;
}

/* Puts the entries that are marked behind the others: they were deleted last. */
static bool put_last(zb_moved *moved) {
    entry *marked = malloc((moved->count + 1) * sizeof *marked);
    size_t kept = 0, count = 0;
    if (!marked)
        return false;
    for (size_t i = 0; i < moved->count; i++) {
        if (moved->entry[i].is_new)
            marked[count++] = moved->entry[i];
        else
            moved->entry[kept++] = moved->entry[i];
    }
    for (size_t i = 0; i < count; i++) {
        marked[i].is_new = false;
        moved->entry[kept++] = marked[i];
    }
    free(marked);
    moved->is_sorted = false;
    return true;
}

/* The paths of entries that lie where a node was. Names of deleted nodes stay, also those that were
   given: a node may be called like one. */
static bool change_paths(zb_moved *moved, const char *from, const char *to) {
    for (size_t i = 0; i < moved->count; i++) {
        entry *one = &moved->entry[i];
        const char *rest = one->path ? rest_below(one->path, from) : NULL;
        if (!rest)
            continue;
        char *path = to ? join(to, rest) : NULL;
        if (to && !path)
            return false;
        free(one->path);
        one->path = path;
        one->is_new = !to;
        moved->is_sorted = false;
    }
    return to || put_last(moved);
}

/* The entry that decides about the names around one that is there; NULL for none. */
static const entry *longest_above(const zb_moved *moved, const char *name, bool paths) {
    const char *rest, *slash = strrchr(name, '/');
    return longest(moved, name, slash ? (size_t)(slash - name) : 0, paths, &rest);
}

/* A name below one that is deleted goes with it, unless a name between the two leads to a node. */
static bool drop_deleted_below(zb_moved *moved, const char *name) {
    if (!sort(moved))
        return false;
    for (size_t i = 0; i < moved->count; i++) {
        entry *one = &moved->entry[i];
        const char *rest = one->path ? NULL : rest_below(one->name, name);
        const entry *above = rest && *rest ? longest_above(moved, one->name, false) : NULL;
        one->is_needless = above && !above->path;
    }
    drop_needless(moved);
    return true;
}

/* An entry that says no more than what would be without it: a node has come back. */
static bool drop_returned(zb_moved *moved, const char *path) {
    if (!sort(moved))
        return false;
    for (size_t i = 0; i < moved->count; i++) {
        entry *one = &moved->entry[i];
        one->is_needless = one->path && strcmp(one->path, path) == 0 &&
                           strcmp(one->name, path) == 0 && !longest_above(moved, path, false) &&
                           !longest_above(moved, path, true);
    }
    drop_needless(moved);
    return true;
}

enum zb_code zb__moved_move(zb_moved *moved, const char *from, const char *to, zb_error *err) {
    if (!sort(moved))
        return fail_memory(err);
    char *name = zb_moved_name(moved, from), *path = to && name ? strdup(to) : NULL;
    const bool is_new = name && !find(moved, name, strlen(name), false);
    bool complete = (!to || !name || path) && change_paths(moved, from, to);
    if (complete && is_new) {
        complete = add(moved, strdup(name), path);
        path = NULL;
    }
    if (complete && name && !to)
        complete = drop_deleted_below(moved, name);
    if (complete && to)
        complete = drop_returned(moved, to);
    complete = complete && sort(moved);
    free(name);
    free(path);
    return complete ? ZB_OK : fail_memory(err);
}

enum zb_code zb__moved_assign(zb_moved *moved, const char *path, zb_error *err) {
    uint64_t number;
    char *name;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return zb_fail(err, ZB_EIO, "no random number for the name of /%s: %s", path,
                       strerror(errno));
    if (asprintf(&name, "%s;%016llx", path, (unsigned long long)number) < 0)
        name = NULL;
    char *copy = name ? strdup(path) : NULL;
    if (!copy) {
        free(name);
        return fail_memory(err);
    }
    return add(moved, name, copy) && sort(moved) ? ZB_OK : fail_memory(err);
}

/* ---- Printing ---- */

/* Which entries stay: those of deleted nodes go, the first ones first, until there is room. */
typedef struct room {
    uint64_t bytes, deleted; /* that are taken */
    bool *is_left_out;       /* [count] */
} room;

static void leave_out(const zb_moved *moved, room *r, bool given) {
    const uint64_t most = most_bytes();
    for (size_t i = 0; i < moved->count && (r->bytes > most || r->deleted > most / 8); i++) {
        const entry *one = &moved->entry[i];
        if (one->path || is_given(one->name) != given)
            continue;
        r->is_left_out[i] = true;
        r->bytes -= bytes_of(one);
        r->deleted -= bytes_of(one);
    }
}

static char *print(const zb_moved *moved, const room *r) {
    zb_json_writer *w = zb_json_writer_new();
    zb_json_begin_object(w);
    for (size_t i = 0; i < moved->count; i++) {
        const entry *one = &moved->entry[i];
        if (r->is_left_out[i])
            continue;
        zb_json_write_name(w, one->name);
        if (one->path)
            zb_json_write_string(w, one->path);
        else
            zb_json_write_null(w);
    }
    zb_json_end_object(w);
    return zb_json_writer_end(w, NULL);
}

enum zb_code zb__moved_print(const zb_moved *moved, char **out, zb_error *err) {
    room r = {.is_left_out = calloc(moved->count + 1, 1)};
    *out = NULL;
    if (!r.is_left_out)
        return fail_memory(err);
    for (size_t i = 0; i < moved->count; i++) {
        r.bytes += bytes_of(&moved->entry[i]);
        r.deleted += moved->entry[i].path ? 0 : bytes_of(&moved->entry[i]);
    }
    leave_out(moved, &r, true);
    leave_out(moved, &r, false);
    if (r.bytes <= most_bytes())
        *out = print(moved, &r);
    free(r.is_left_out);
    return *out ? ZB_OK : r.bytes > most_bytes() ? fail_limit(err) : fail_memory(err);
}

enum zb_code zb__moved_settle(zb_moved *moved, const char *from, const char *to, bool is_at_from,
                              bool is_at_to, zb_error *err) {
    if (is_at_from && !is_at_to)
        return ZB_OK;
    return zb__moved_move(moved, from, is_at_to && !is_at_from ? to : NULL, err);
}
