/* SPDX-License-Identifier: MIT */
/*
 * Texts that come to the writing side from files and users: a document that is changed, an
 * attribute's name and value, a path, a list of codecs, a dimension's name; separated by bytes 255.
 * A member that a call accepts must be there afterwards, and all others as they were.
 */
#include "fuzz.h"

#include "zarrbridge/change.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/hierarchy.h"
#include "zarrbridge/write.h"

typedef struct texts {
    char *document, *name, *value, *path, *codecs, *dimension;
} texts;

static zb_hierarchy *new_store(void) {
    zb_hierarchy *hierarchy;
    zb_error err;
    REQUIRE_OK(zb_hierarchy_new_mem("fuzz", &hierarchy, &err), err);
    return hierarchy;
}

static void require_same(const zb_json *a, const zb_json *b) {
    char *left = zb_json_print(a), *right = zb_json_print(b);
    REQUIRE(left && right && strcmp(left, right) == 0);
    free(left);
    free(right);
}

/* The members of both objects but those called `except` are the same, in the same order. */
static void require_same_members(const zb_json *a, const zb_json *b, const char *except) {
    const zb_json *left = zb_json_first(a), *right = zb_json_first(b);
    for (;;) {
        while (left && strcmp(zb_json_name(left), except) == 0)
            left = zb_json_next(left);
        while (right && strcmp(zb_json_name(right), except) == 0)
            right = zb_json_next(right);
        if (!left || !right)
            break;
        REQUIRE(strcmp(zb_json_name(left), zb_json_name(right)) == 0);
        require_same(left, right);
        left = zb_json_next(left);
        right = zb_json_next(right);
    }
    REQUIRE(!left && !right);
}

/* The node is in the store as the call returned it. */
static void require_stored(zb_hierarchy *hierarchy, const char *path, const zb_node *returned) {
    zb_node *stored;
    zb_error err;
    REQUIRE_OK(zb_node_open(hierarchy, path, &stored, &err), err);
    require_same(zb_node_document(stored), zb_node_document(returned));
    REQUIRE(!zb_node_array(stored) == !zb_node_array(returned));
    zb_node_release(stored);
}

static void require_value(const zb_json *value, const char *text) {
    zb_json *parsed;
    zb_error err;
    REQUIRE_OK(zb_json_parse(text, strlen(text), &parsed, &err), err);
    require_same(value, parsed);
    zb_json_free(parsed);
}

static void change(const texts *t) {
    zb_hierarchy *hierarchy = new_store();
    zb_node *old, *set, *removed;
    zb_error err;
    REQUIRE_OK(zb_store_mem_set(zb_hierarchy_store(hierarchy), "zarr.json", t->document,
                                strlen(t->document), &err),
               err);
    if (zb_node_open(hierarchy, "", &old, &err) == ZB_OK) {
        enum zb_code code = zb_node_set_attribute(old, t->name, t->value, &set, &err);
        fuzz_check_error(code, &err);
        if (code == ZB_OK) {
            require_value(zb_json_get(zb_node_attributes(set), t->name), t->value);
            require_same_members(zb_node_document(old), zb_node_document(set), "attributes");
            require_same_members(zb_node_attributes(old), zb_node_attributes(set), t->name);
            require_stored(hierarchy, "", set);
            REQUIRE_OK(zb_node_set_attribute(set, t->name, NULL, &removed, &err), err);
            REQUIRE(!zb_json_get(zb_node_attributes(removed), t->name));
            require_same_members(zb_node_attributes(old), zb_node_attributes(removed), t->name);
            require_stored(hierarchy, "", removed);
            zb_node_release(removed);
            zb_node_release(set);
        }
        zb_node_release(old);
    }
    zb_hierarchy_release(hierarchy);
}

static void create_group(const texts *t) {
    zb_hierarchy *hierarchy = new_store();
    zb_node *group;
    zb_error err;
    enum zb_code code = zb_group_create(hierarchy, t->path, t->value, &group, &err);
    fuzz_check_error(code, &err);
    if (code == ZB_OK) {
        require_value(zb_node_attributes(group), t->value);
        require_stored(hierarchy, t->path, group);
        zb_node_release(group);
    }
    zb_hierarchy_release(hierarchy);
}

/* Elements written with these codecs are read again. */
static void require_round_trip(const zb_node *array) {
    int16_t values[15], got[15];
    zb_writer *writer;
    zb_error err;
    for (int i = 0; i < 15; i++)
        values[i] = (int16_t)(i * i * 21);
    const zb_write write = {.data = values, .dtype = {.kind = ZB_KIND_INT, .size = 2}};
    zb_read read = {.node = array, .view = {.data = got, .dtype = write.dtype}};
    REQUIRE_OK(zb_writer_open(array, NULL, &writer, &err), err);
    REQUIRE_OK(zb_writer_write(writer, &write, &err), err);
    REQUIRE_OK(zb_writer_close(writer, &err), err);
    REQUIRE_OK(zb_array_read(&read, 1, &err), err);
    REQUIRE(memcmp(got, values, sizeof got) == 0);
}

static void create_array(const texts *t) {
    const uint64_t shape[2] = {3, 5}, inner[2] = {2, 2}, shards[2] = {4, 6};
    const char *const names[2] = {t->dimension, NULL};
    zb_hierarchy *hierarchy = new_store();
    zb_node *array, *renamed;
    zb_error err;
    const zb_array_spec spec = {.ndim = 2,
                                .shape = shape,
                                .inner_shape = inner,
                                .shard_shape = strlen(t->path) % 2 ? shards : NULL,
                                .dtype = {.kind = ZB_KIND_INT, .size = 2},
                                .codecs = t->codecs,
                                .dimension_names = names};
    enum zb_code code = zb_array_create(hierarchy, t->path, &spec, &array, &err);
    fuzz_check_error(code, &err);
    if (code == ZB_OK) {
        REQUIRE(strcmp(zb_node_array(array)->dimension_names[0], t->dimension) == 0);
        require_stored(hierarchy, t->path, array);
        require_round_trip(array);
        const char *const others[2] = {NULL, t->name};
        code = zb_array_set_dimension_names(array, others, &renamed, &err);
        fuzz_check_error(code, &err);
        if (code == ZB_OK) {
            REQUIRE(strcmp(zb_node_array(renamed)->dimension_names[1], t->name) == 0);
            require_stored(hierarchy, t->path, renamed);
            zb_node_release(renamed);
        }
        zb_node_release(array);
    }
    zb_hierarchy_release(hierarchy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    texts t;
    char **text[] = {&t.document, &t.name, &t.value, &t.path, &t.codecs, &t.dimension};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        *text[i] = fuzz_next_text(&data, &size);
    change(&t);
    create_group(&t);
    create_array(&t);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        free(*text[i]);
    return 0;
}
