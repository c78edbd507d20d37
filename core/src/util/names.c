/* SPDX-License-Identifier: MIT */
#include "util/names.h"

#include <stdlib.h>
#include <string.h>

#include "util/list.h"
#include "zarrbridge/limits.h"

enum zb_code zb__names_add(zb__names *names, zb__name name, zb_error *err) {
    if (!name.text ||
        !zb__list_grow(&names->name, names->count, &names->capacity, sizeof *names->name)) {
        free(name.text);
        return zb_fail(err, ZB_ENOMEM, "out of memory for a list of names");
    }
    names->name[names->count++] = name;
    return ZB_OK;
}

enum zb_code zb__names_add_listed(zb__names *names, zb__name name, zb_error *err) {
    uint64_t limit = zb_limits_get()->children;
    if (names->count < limit)
        return zb__names_add(names, name, err);
    free(name.text);
    return zb_fail(err, ZB_ELIMIT, "more than %llu names, the limit children",
                   (unsigned long long)limit);
}

/* A name that is being sorted, with its first bytes as a number: they tell most names apart,
   without a look at texts that lie all over memory. */
typedef struct keyed {
    uint64_t first;
    zb__name name;
} keyed;

static uint64_t first_bytes(const char *text) {
    uint64_t first = 0;
    for (unsigned i = 0; i < 8; i++) {
        first = first << 8 | (unsigned char)*text;
        text += *text != '\0';
    }
    return first;
}

static int compare_keyed(const void *a, const void *b) {
    const keyed *left = a, *right = b;
    if (left->first != right->first)
        return left->first < right->first ? -1 : 1;
    return strcmp(left->name.text, right->name.text);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(((const zb__name *)a)->text, ((const zb__name *)b)->text);
}

static void sort(zb__names *names) {
    keyed *list = names->count > 1 ? malloc(names->count * sizeof *list) : NULL;
    if (!list) {
        qsort(names->name, names->count, sizeof *names->name, compare_names);
        return;
    }
    for (size_t i = 0; i < names->count; i++)
        list[i] = (keyed){.first = first_bytes(names->name[i].text), .name = names->name[i]};
    qsort(list, names->count, sizeof *list, compare_keyed);
    for (size_t i = 0; i < names->count; i++)
        names->name[i] = list[i].name;
    free(list);
}

void zb__names_sort(zb__names *names) {
    size_t kept = 0;
    if (names->count > 0)
        sort(names);
    for (size_t i = 0; i < names->count; i++) {
        if (kept > 0 && strcmp(names->name[kept - 1].text, names->name[i].text) == 0)
            free(names->name[i].text);
        else
            names->name[kept++] = names->name[i];
    }
    names->count = kept;
}

void zb__names_free(zb__names *names) {
    for (size_t i = 0; i < names->count; i++)
        free(names->name[i].text);
    free(names->name);
    *names = (zb__names){.count = 0};
}
