/* SPDX-License-Identifier: MIT */
/* Names of nodes in the store, for names that a Zarr node cannot have. */
#include <stdlib.h>
#include <string.h>

#include "zarrbridge/conventions.h"

/* The longest name that a file system has. Longer ones are no forms, which bounds the search for
   names that look like the form of a name that looks like the form of a name. */
enum { LONGEST = 255 };

static bool is_always_bad(unsigned char c) {
    return c < ' ' || c == 0x7f || c == '\\';
}

/* The first character is written in another form then. "." is no name. */
static bool begins_badly(const char *name) {
    const size_t dots = strspn(name, ".");
    return (dots > 1 && !name[dots]) || zb_name_is_reserved(name);
}

bool zb_name_needs_form(const char *name) {
    for (const char *c = name; *c; c++)
        if (is_always_bad((unsigned char)*c))
            return true;
    return begins_badly(name);
}

/* ---- Forms ---- */

static char *form_of(const char *name) {
    static const char digits[] = "0123456789ABCDEF";
    char *form = malloc(3 * strlen(name) + 1), *end = form;
    const bool first_is_bad = begins_badly(name);
    if (!form)
        return NULL;
    for (const char *c = name; *c; c++) {
        const unsigned char byte = (unsigned char)*c;
        if (is_always_bad(byte) || byte == '%' || (c == name && first_is_bad)) {
            *end++ = '%';
            *end++ = digits[byte >> 4];
            *end++ = digits[byte & 15];
        } else {
            *end++ = *c;
        }
    }
    *end = '\0';
    return form;
}

static int digit_of(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The name of which a text may be the form; NULL when it has a "%" that begins no character, or
   memory runs out. */
static char *name_of(const char *form) {
    char *name = malloc(strlen(form) + 1), *end = name;
    for (const char *c = form; name && *c; c++) {
        if (*c != '%') {
            *end++ = *c;
            continue;
        }
        const int high = digit_of(c[1]), low = high < 0 ? -1 : digit_of(c[2]);
        if (low < 0 || high + low == 0) {
            free(name);
            return NULL;
        }
        *end++ = (char)(high << 4 | low);
        c += 2;
    }
    if (name)
        *end = '\0';
    return name;
}

/* The name whose form a text is, which is shorter; NULL when it is no form. */
static char *name_of_form(const char *text) {
    if (zb_name_is_plain(text) || strlen(text) > LONGEST)
        return NULL;
    char *name = name_of(text);
    char *form = name && zb_name_has_form(name) ? form_of(name) : NULL;
    const bool is_form = form && strcmp(form, text) == 0;
    free(form);
    if (is_form)
        return name;
    free(name);
    return NULL;
}

/* ---- Both ways ---- */

bool zb_name_has_form(const char *name) {
    if (zb_name_needs_form(name))
        return true;
    char *other = name_of_form(name);
    free(other);
    return other != NULL;
}

char *zb_name_stored(const char *name) {
    return zb_name_has_form(name) ? form_of(name) : strdup(name);
}

bool zb_name_is_plain(const char *stored) {
    return !strchr(stored, '%');
}

char *zb_name_shown(const char *stored) {
    char *name = name_of_form(stored);
    return name ? name : strdup(stored);
}
