/* SPDX-License-Identifier: MIT */
/*
 * The HDF5 extension, whose text may come from anybody. The input is up to three texts, separated
 * by bytes 255: the one that changes were made to, the one that is stored now, and an object with
 * changes. What a call makes is parsed again, and has what was changed; members that the table
 * lacks stay.
 */
#include "fuzz.h"

#include "zarrbridge/hdf5_extension.h"
#include "zarrbridge/json.h"

static zb_json *as_value(const char *text) {
    zb_json_writer *out = zb_json_writer_new();
    zb_json_write_string(out, text);
    size_t size;
    char *json = zb_json_writer_end(out, &size);
    zb_json *value = NULL;
    REQUIRE(json);
    (void)zb_json_parse(json, size, &value, NULL); /* NULL for a text that is no UTF-8 */
    free(json);
    return value;
}

static zb_hdf5_extension *parse(const char *text) {
    zb_json *value = as_value(text);
    zb_hdf5_extension *extension;
    REQUIRE(zb_hdf5_extension_parse(value, &extension, NULL) == ZB_OK);
    zb_json_free(value);
    return extension;
}

/* Of the value that a call gave: NULL for none. */
static zb_hdf5_extension *parse_made(char *made) {
    zb_json *value = NULL;
    if (!made)
        return NULL;
    REQUIRE(zb_json_parse(made, strlen(made), &value, NULL) == ZB_OK);
    zb_hdf5_extension *extension;
    REQUIRE(zb_hdf5_extension_parse(value, &extension, NULL) == ZB_OK);
    REQUIRE(extension);
    zb_json_free(value);
    free(made);
    return extension;
}

static void require_same(const zb_json *a, const zb_json *b) {
    char *left = a ? zb_json_print(a) : NULL, *right = b ? zb_json_print(b) : NULL;
    REQUIRE(!left == !right && (!left || strcmp(left, right) == 0));
    free(left);
    free(right);
}

/* Each member of the object as a change: of an entry for entries of links and attributes. */
static size_t changes_in(const zb_json *object, zb_hdf5_change *out, size_t most) {
    size_t count = 0;
    for (const zb_json *one = zb_json_first(object); one; one = zb_json_next(one)) {
        const enum zb_hdf5_member member = zb_hdf5_member_called(zb_json_name(one));
        const bool has_entries = member == ZB_HDF5_LINKS || member == ZB_HDF5_ATTRIBUTES;
        if (member == ZB_HDF5_MEMBERS)
            continue;
        for (const zb_json *entry = has_entries ? zb_json_first(one) : NULL; entry && count < most;
             entry = zb_json_next(entry))
            if (zb_json_name(entry))
                out[count++] = (zb_hdf5_change){member, zb_json_name(entry), entry, NULL};
        if (!has_entries && count < most)
            out[count++] = (zb_hdf5_change){
                member, NULL, zb_json_kind_of(one) == ZB_JSON_NULL ? NULL : one, NULL};
    }
    return count;
}

static bool has_some(void *context, const char *name) {
    (void)context;
    return strlen(name) % 2 == 0;
}

static void check_change(const zb_hdf5_extension *base, const zb_hdf5_extension *now,
                         const zb_json *wanted) {
    zb_hdf5_change changes[64];
    const size_t count = changes_in(wanted, changes, sizeof changes / sizeof *changes);
    char *made;
    zb_error err;
    REQUIRE_OK(zb_hdf5_extension_change(now, now, changes, count, NULL, NULL, &made, &err), err);
    zb_hdf5_extension *after = parse_made(made);
    for (size_t i = 0; i < count; i++) {
        const zb_json *found = zb_hdf5_extension_get(after, changes[i].member);
        if (changes[i].entry)
            require_same(zb_json_get(found, changes[i].entry), changes[i].value);
        else if (found)
            require_same(found, changes[i].value);
    }
    zb_hdf5_extension_free(after);
    REQUIRE_OK(zb_hdf5_extension_change(base, now, changes, count, has_some, NULL, &made, &err),
               err);
    zb_hdf5_extension_free(parse_made(made));
}

static void check_copies(const zb_hdf5_extension *base, const zb_hdf5_extension *now) {
    char *made;
    zb_error err;
    REQUIRE_OK(zb_hdf5_extension_for_copies(now, true, has_some, NULL, &made, &err), err);
    zb_hdf5_extension *copied = parse_made(made);
    REQUIRE(!zb_hdf5_extension_get(copied, ZB_HDF5_LINKS));
    REQUIRE(!zb_hdf5_extension_get(copied, ZB_HDF5_MOVED));
    REQUIRE(!zb_hdf5_extension_uses_types(copied));
    for (int follows = 0; follows < 2; follows++) {
        REQUIRE_OK(zb_hdf5_extension_join(base, copied, follows, has_some, NULL, &made, &err), err);
        zb_hdf5_extension *joined = parse_made(made);
        require_same(zb_hdf5_extension_get(joined, ZB_HDF5_SCALES),
                     zb_hdf5_extension_get(base, ZB_HDF5_SCALES));
        zb_hdf5_extension_free(joined);
    }
    zb_hdf5_extension_free(copied);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text[3] = {NULL, NULL, NULL}, *copy = malloc(size + 1);
    REQUIRE(copy);
    memcpy(copy, data, size);
    copy[size] = '\0';
    char *rest = copy;
    for (int i = 0; i < 3 && rest; i++)
        text[i] = strsep(&rest, "\xff");
    zb_hdf5_extension *base = text[0] ? parse(text[0]) : NULL,
                      *now = text[1] ? parse(text[1]) : NULL;
    zb_json *wanted = NULL;
    if (text[2])
        (void)zb_json_parse(text[2], strlen(text[2]), &wanted, NULL);
    check_change(base, now, wanted);
    check_copies(base, now);
    zb_json_free(wanted);
    zb_hdf5_extension_free(base);
    zb_hdf5_extension_free(now);
    free(copy);
    return 0;
}
