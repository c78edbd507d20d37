/* SPDX-License-Identifier: MIT */
#include "util/json_excerpt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/json_writer.h"

/* Cuts `whole`, which it frees, to the size of a brief text. */
static const char *cut_to_excerpt(char *whole, char text[ZB__BRIEF_SIZE]) {
    if (!whole) /* out of memory, which the caller's error need not become */
        return strcpy(text, "?");
    size_t length = strlen(whole);
    size_t cut = length;
    if (length >= ZB__BRIEF_SIZE) {
        cut = ZB__BRIEF_SIZE - sizeof "...";
        while (((unsigned char)whole[cut] & 0xc0) == 0x80)
            cut--; /* not inside a UTF-8 character */
    }
    snprintf(text, ZB__BRIEF_SIZE, "%.*s%s", (int)cut, whole, cut < length ? "..." : "");
    free(whole);
    return text;
}

const char *zb__json_excerpt(const zb_json *value, char text[ZB__BRIEF_SIZE]) {
    return cut_to_excerpt(value ? zb_json_print(value) : strdup("missing"), text);
}

const char *zb__name_excerpt(const char *name, char text[ZB__BRIEF_SIZE]) {
    zb_json_writer w = {.level = 0};
    zb_json_write_string(&w, name);
    return cut_to_excerpt(zb__text_take(&w.text, NULL), text);
}
