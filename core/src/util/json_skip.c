/* SPDX-License-Identifier: MIT */
/*
 * Skipping goes through a value in one loop: `open` remembers which of the containers around the
 * current place are objects, so that no nesting costs stack.
 */
#include "util/json_skip.h"

#include <string.h>

#include "util/list.h"

/* The deepest nesting that any caller allows (json_parse.c). */
#define DEPTH_MAX 1000

/* Names are far from each other in a text that no cache of the processor holds: so many members
   ahead the memory is asked for. */
#define NAMES_AHEAD 8

/* Bytes of names that have passed, until they are freed. */
#define MOST_NAMES ((size_t)32 << 10)

static enum zb_code skip_scalar(zb__scanner *s) {
    static const char *const words[] = {"true", "false", "null"};
    const char c = zb__scan_peek(s);
    if (c == '"')
        return zb__scan_skip_string(s);
    if (c == '-' || c == 'N' || c == 'I' || (c >= '0' && c <= '9'))
        return zb__scan_skip_number(s);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (zb__scan_word(s, words[i]))
            return ZB_OK;
    }
    return zb__scan_expected(s, "a JSON value");
}

static enum zb_code skip_name(zb__scanner *s) {
    zb__scan_space(s);
    if (zb__scan_peek(s) != '"')
        return zb__scan_expected(s, "a member's name in quotes");
    enum zb_code code = zb__scan_skip_string(s);
    if (!code && !zb__scan_take(s, ':'))
        code = zb__scan_expected(s, "':' behind a member's name");
    return code;
}

/* Behind a value: closes the containers that end here. *more: another value follows. */
static enum zb_code skip_ends(zb__scanner *s, const bool *open, size_t *depth, bool *more) {
    *more = false;
    while (*depth > 0 && !*more) {
        const bool object = open[*depth - 1];
        if (zb__scan_take(s, ',')) {
            enum zb_code code = object ? skip_name(s) : ZB_OK;
            if (code)
                return code;
            *more = true;
        } else if (zb__scan_take(s, object ? '}' : ']')) {
            --*depth;
        } else {
            return zb__scan_expected(s, object ? "',' or '}'" : "',' or ']'");
        }
    }
    return ZB_OK;
}

enum zb_code zb__json_skip(zb__scanner *s, size_t depth) {
    bool open[DEPTH_MAX], more = true;
    const size_t most = depth < DEPTH_MAX ? depth : DEPTH_MAX;
    size_t level = 0;
    enum zb_code code = ZB_OK;
    while (more && !code) {
        zb__scan_space(s);
        const char c = zb__scan_peek(s);
        if (c != '{' && c != '[') {
            code = skip_scalar(s);
        } else if (level >= most) {
            code = zb__scan_fail(s, ZB_ELIMIT, s->at, "nested deeper than %d levels", DEPTH_MAX);
        } else {
            s->at++;
            open[level++] = c == '{';
            zb__scan_space(s);
            if (zb__scan_peek(s) != (c == '{' ? '}' : ']')) {
                code = c == '{' ? skip_name(s) : ZB_OK;
                continue;
            }
        }
        if (!code)
            code = skip_ends(s, open, &level, &more);
    }
    return code;
}

/* ---- Members ------------------------------------------------------------------------------ */

/* A member's name, up to its value. */
static enum zb_code begin_member(zb__scanner *s, zb_json_place *place) {
    place->name = s->at;
    enum zb_code code = skip_name(s);
    zb__scan_space(s);
    place->begin = s->at;
    return code;
}

/* A member's name, and its value. */
static enum zb_code skip_member(zb__scanner *s, size_t depth, zb_json_place *place) {
    enum zb_code code = begin_member(s, place);
    if (!code)
        code = zb__json_skip(s, depth);
    place->end = s->at;
    return code;
}

/* ---- Alike members ------------------------------------------------------------------------ */

/* Documents of nodes beside each other have most members in common, byte for byte. What was checked
   in the one before needs no second check. */
enum { ALIKE_MAX = 16 };

typedef struct alike {
    size_t count;
    zb_json_place member[ALIKE_MAX]; /* of the object before, in the order of the text */
} alike;

/* True if the number, word or other value before this byte ends there. */
static bool ends_value(char next) {
    return next == ',' || next == '}' || next == ' ' || next == '\n' || next == '\r' ||
           next == '\t';
}

/* Skips a member whose bytes are those of `before`. */
static bool skip_same(zb__scanner *s, const zb_json_place *before, zb_json_place *place) {
    const size_t size = before->end - before->name;
    /* a byte must follow, too */
    if (s->size - s->at <= size || memcmp(s->text + s->at, s->text + before->name, size) != 0 ||
        !ends_value(s->text[s->at + size]))
        return false;
    *place = (zb_json_place){.name = s->at, .end = s->at + size};
    place->begin = s->at + (before->begin - before->name);
    s->at += size;
    return true;
}

/* zb__json_skip of an object, beside another one of the same depth. */
static enum zb_code skip_alike(zb__scanner *s, size_t depth, alike *like) {
    if (depth == 0)
        return zb__json_skip(s, depth);
    size_t i = 0;
    s->at++;
    if (zb__scan_take(s, '}'))
        return ZB_OK;
    do {
        zb_json_place place;
        zb__scan_space(s);
        if (i >= like->count || !skip_same(s, &like->member[i], &place)) {
            enum zb_code code = skip_member(s, depth - 1, &place);
            if (code)
                return code;
        }
        if (i < ALIKE_MAX)
            like->member[i++] = place;
    } while (zb__scan_take(s, ','));
    like->count = i;
    return zb__scan_take(s, '}') ? ZB_OK : zb__scan_expected(s, "',' or '}'");
}

/* skip_member beside others. */
static enum zb_code skip_entry(zb__scanner *s, size_t depth, alike *like, zb_json_place *place) {
    enum zb_code code = begin_member(s, place);
    if (!code)
        code = zb__scan_peek(s) == '{' ? skip_alike(s, depth, like) : zb__json_skip(s, depth);
    place->end = s->at;
    return code;
}

/* ---- Objects ------------------------------------------------------------------------------ */

/* Depth counts this object, too. */
enum zb_code zb__json_skip_object(zb__scanner *s, size_t depth, zb__json_places *places) {
    alike like = {.count = 0};
    if (depth == 0)
        return zb__scan_fail(s, ZB_ELIMIT, s->at, "nested deeper than %d levels", DEPTH_MAX);
    s->at++;
    if (zb__scan_take(s, '}'))
        return ZB_OK;
    do {
        zb_json_place place;
        zb__scan_space(s);
        enum zb_code code = skip_entry(s, depth - 1, &like, &place);
        if (code)
            return code;
        if (!zb__list_grow(&places->place, places->count, &places->capacity, sizeof place))
            return zb__scan_no_memory(s);
        places->place[places->count++] = place;
    } while (zb__scan_take(s, ','));
    return zb__scan_take(s, '}') ? ZB_OK : zb__scan_expected(s, "',' or '}'");
}

void zb__json_members_begin(zb__json_members *members, const char *text, size_t size,
                            const zb_json_place *places, size_t count) {
    *members = (zb__json_members){
        .s = {.text = text, .size = size, .is_lenient = true}, .next = places, .left = count};
}

enum zb_code zb__json_members_next(zb__json_members *members, bool *there, zb_error *err) {
    zb__scanner *s = &members->s;
    char *name;
    *there = members->left > 0;
    if (!*there)
        return ZB_OK;
    /* Pointers into the struct are set here, since it may have been copied. */
    s->arena = &members->arena;
    s->err = err;
    if (members->arena.held > MOST_NAMES)
        zb__arena_free(&members->arena);
    if (members->left > NAMES_AHEAD)
        __builtin_prefetch(s->text + members->next[NAMES_AHEAD].name);
    members->place = *members->next++;
    members->left--;
    s->at = members->place.name;
    enum zb_code code = zb__scan_string(s, &name);
    members->name = name;
    return code;
}

void zb__json_members_end(zb__json_members *members) {
    zb__arena_free(&members->arena);
}
