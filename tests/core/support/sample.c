/* SPDX-License-Identifier: MIT */
#include "support/sample.h"
#include "zarrbridge/sys/hierarchy.h"

typedef struct sample_member {
    const char *name, *value;
} sample_member;

static const sample_member array_members[] = {
    {"zarr_format", "3"},
    {"node_type", "\"array\""},
    {"shape", "[10,20]"},
    {"data_type", "\"int16\""},
    {"chunk_grid", "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[4,5]}}"},
    {"chunk_key_encoding", "{\"name\":\"default\",\"configuration\":{\"separator\":\"/\"}}"},
    {"fill_value", "7"},
    {"codecs", "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]"},
    {"attributes", "{\"a\":1}"},
    {NULL, NULL},
};

static const sample_member group_members[] = {
    {"zarr_format", "3"}, {"node_type", "\"group\""}, {"attributes", "{\"a\":1}"}, {NULL, NULL}};

static char *make(const sample_member *members, const char *name, const char *value) {
    size_t capacity = 4096 + (value ? strlen(value) : 0);
    char *text = malloc(capacity);
    size_t size = (size_t)snprintf(text, capacity, "{");
    bool replaced = false;
    for (const sample_member *m = members; m->name; m++) {
        bool here = name && strcmp(m->name, name) == 0;
        replaced = replaced || here;
        if (!here || value)
            size += (size_t)snprintf(text + size, capacity - size, "%s\"%s\":%s",
                                     size > 1 ? "," : "", m->name, here ? value : m->value);
    }
    if (name && value && !replaced)
        size += (size_t)snprintf(text + size, capacity - size, ",\"%s\":%s", name, value);
    snprintf(text + size, capacity - size, "}");
    return text;
}

char *sample_array(const char *name, const char *value) {
    return make(array_members, name, value);
}

char *sample_group(const char *name, const char *value) {
    return make(group_members, name, value);
}

enum zb_code sample_open(const char *text, zb_node **out, zb_error *err) {
    zb_hierarchy *hierarchy;
    assert_int_equal(zb_hierarchy_new_mem("test", &hierarchy, err), ZB_OK);
    assert_int_equal(
        zb_store_mem_set(zb_hierarchy_store(hierarchy), "zarr.json", text, strlen(text), err),
        ZB_OK);
    enum zb_code code = zb_node_open(hierarchy, "", out, err);
    zb_hierarchy_release(hierarchy);
    return code;
}

zb_node *sample_node(const char *text) {
    zb_node *node = NULL;
    zb_error err = {0};
    if (sample_open(text, &node, &err))
        fail_msg("%s\n%s", text, err.message);
    return node;
}

zb_node *sample_uint8(const char *shape, const char *grid) {
    char *text = NULL;
    assert_true(asprintf(&text,
                         "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":%s,"
                         "\"data_type\":\"uint8\",\"chunk_grid\":%s,\"chunk_key_encoding\":"
                         "{\"name\":\"default\"},\"fill_value\":0,\"codecs\":[\"bytes\"]}",
                         shape, grid) > 0);
    zb_node *node = sample_node(text);
    free(text);
    return node;
}

void sample_expect_span(zb_chunk_span span, uint64_t index, uint64_t start, uint64_t extent,
                        uint64_t inside) {
    assert_int_equal(span.index, index);
    assert_int_equal(span.start, start);
    assert_int_equal(span.extent, extent);
    assert_int_equal(span.inside, inside);
}

void sample_check(char *(*make_text)(const char *name, const char *value), const sample_row *rows,
                  size_t count) {
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        char *text = make_text(rows[i].name, rows[i].value);
        zb_node *node = NULL;
        zb_error err = {0};
        enum zb_code code = sample_open(text, &node, &err);
        if (code != rows[i].code || (code && !strstr(err.message, rows[i].message))) {
            print_error("%s: %s\n  gave %s \"%s\"\n  expected %s \"%s\"\n", rows[i].name,
                        rows[i].value ? rows[i].value : "(left out)", zb_code_name(code),
                        err.message, zb_code_name(rows[i].code),
                        rows[i].message ? rows[i].message : "");
            wrong++;
        }
        /* The place is named once, at the front. */
        if (code) {
            assert_memory_equal(err.message, "store test, ", 12);
            assert_null(strstr(err.message + 12, "store test"));
        }
        zb_node_release(node);
        free(text);
    }
    assert_int_equal(wrong, 0);
}
