/* SPDX-License-Identifier: MIT */
#include "base/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
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

static int compare_names(const void *a, const void *b) {
    return strcmp(((const zb__name *)a)->text, ((const zb__name *)b)->text);
}

void zb__names_sort(zb__names *names) {
    size_t kept = 0;
    if (names->count > 0)
        qsort(names->name, names->count, sizeof *names->name, compare_names);
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
