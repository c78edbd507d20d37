/* SPDX-License-Identifier: MIT */
/* The table of kinds. */
#include "types/kinds.h"

#include <ctype.h>
#include <string.h>

#include "base/names.h"

/* A line for each row NAME: the constant zb__kind_NAME. Those of enum zb_kind come first, in its
   order; behind them are extensions. */
/* clang-format off */
#define KINDS(line) \
    line(bool) \
    line(int) \
    line(uint) \
    line(float) \
    line(complex) \
    line(raw) \
    line(string) \
    line(bytes) \
    line(struct) \
    line(datetime) \
    line(timedelta) \
    line(chars) \
    line(utf32) \
    line(small) \
    line(small_complex) \
    line(float8_e4m3fn)
/* clang-format on */

#define DECLARE(name) extern const zb__kind zb__kind_##name;
#define ADDRESS(name) &zb__kind_##name,

KINDS(DECLARE)

static const zb__kind *const table[] = {KINDS(ADDRESS) NULL};

static const zb__type_name no_names[] = {{.name = NULL}};
static const zb__kind no_kind = {.kind = ZB_KIND_EXTENSION, .names = no_names};

const zb__kind *zb__kind_of(zb_dtype dtype) {
    if (dtype.kind < ZB_KIND_EXTENSION)
        return table[dtype.kind];
    const bool has_row = dtype.kind == ZB_KIND_EXTENSION && dtype.detail && dtype.detail->extension;
    return has_row ? dtype.detail->extension : &no_kind;
}

const zb__kind *zb__kind_named(const char *name, const zb__type_name **entry) {
    for (const zb__kind *const *kind = table; *kind; kind++) {
        for (*entry = (*kind)->names; (*entry)->name; ++*entry) {
            if (zb__name_is((*entry)->name, name))
                return *kind;
        }
    }
    *entry = NULL;
    for (const zb__kind *const *kind = table; *kind; kind++) {
        if ((*kind)->claims && (*kind)->claims(name))
            return *kind;
    }
    return NULL;
}

/* Decimal digits; saturates. */
static uint64_t take_number(const char **text) {
    uint64_t number = 0;
    for (; isdigit((unsigned char)**text); ++*text)
        number = number < UINT64_MAX / 16 ? number * 10 + (uint64_t)(**text - '0') : number;
    return number;
}

/* A code has a letter, and the number that the entry has, or, behind a letter alone, any. */
static bool has_code(const zb__type_name *entry, char letter, uint64_t count) {
    if (!entry->numpy || entry->numpy[0] != letter)
        return false;
    const char *number = entry->numpy + 1;
    return *number == '\0' || take_number(&number) == count;
}

const zb__kind *zb__kind_coded(const char *code, const zb__type_name **entry, uint64_t *count,
                               const char **rest) {
    const char letter = *code;
    *rest = code + (letter != '\0');
    if (!isdigit((unsigned char)**rest))
        return NULL;
    *count = take_number(rest);
    for (const zb__kind *const *kind = table; *kind; kind++) {
        for (*entry = (*kind)->names; (*entry)->name; ++*entry) {
            if (has_code(*entry, letter, *count))
                return *kind;
        }
    }
    return NULL;
}
