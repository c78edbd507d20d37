/* SPDX-License-Identifier: MIT */
#include "support/store.h"

#include "node/walk.h"
#include "util/json.h"
#include "util/text.h"
#include "zarrbridge/change.h"
#include "zarrbridge/sys/hierarchy.h"

zb_hierarchy *store_new(void) {
    zb_hierarchy *hierarchy;
    zb_error err;
    ASSERT_OK(zb_hierarchy_new_mem("test", &hierarchy, &err), err);
    return hierarchy;
}

void store_let_age(zb_hierarchy *hierarchy, const char *key) {
    zb_object_info info = {.size = 0};
    zb_error err;
    while (!info.validator.valid)
        ASSERT_OK(zb_store_stat(zb_hierarchy_place(hierarchy, key), key, &info, &err), err);
}

char *store_text(zb_hierarchy *hierarchy, const char *key) {
    char *text = NULL;
    size_t size;
    zb_error err;
    enum zb_code code = zb_store_get(zb_hierarchy_place(hierarchy, key), key, 1 << 24, "test",
                                     &text, &size, NULL, &err);
    if (code != ZB_ENOTFOUND)
        ASSERT_OK(code, err);
    return code ? NULL : text;
}

void store_set(zb_hierarchy *hierarchy, const char *key, const char *text) {
    zb_error err;
    zb_part part = {text, strlen(text)};
    ASSERT_OK(zb_store_put(zb_hierarchy_place(hierarchy, key), key, &part, 1, ZB_SYNC_NONE, &err),
              err);
}

void store_expect(zb_hierarchy *hierarchy, const char *key, const char *text) {
    char *there = store_text(hierarchy, key);
    if (!text != !there || (text && strcmp(text, there) != 0))
        fail_msg("%s is\n%s\nexpected\n%s", key, there ? there : "(nothing)",
                 text ? text : "(nothing)");
    free(there);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum zb_code take_key(void *context, const char *key, zb_error *err) {
    zb__names *keys = context;
    (void)err;
    keys->name = realloc(keys->name, (keys->count + 1) * sizeof *keys->name);
    keys->name[keys->count++].text = strdup(key);
    return ZB_OK;
}

typedef struct cloning {
    zb_hierarchy *from, *to;
} cloning;

static enum zb_code clone_key(void *context, const char *key, zb_error *err) {
    cloning *c = context;
    char *text = store_text(c->from, key);
    enum zb_code code = zb_store_mem_set(zb_hierarchy_store(c->to), key, text, strlen(text), err);
    free(text);
    return code;
}

zb_hierarchy *store_clone(zb_hierarchy *hierarchy) {
    cloning c = {.from = hierarchy, .to = store_new()};
    zb_error err;
    ASSERT_OK(zb__keys_below(hierarchy, "", NULL, clone_key, &c, &err), err);
    return c.to;
}

char *store_dump(zb_hierarchy *hierarchy) {
    zb__names keys = {.count = 0};
    zb__text text = {0};
    zb_error err;
    ASSERT_OK(zb__keys_below(hierarchy, "", NULL, take_key, &keys, &err), err);
    if (keys.count)
        qsort(keys.name, keys.count, sizeof *keys.name, compare_names);
    for (size_t i = 0; i < keys.count; i++) {
        char *object = store_text(hierarchy, keys.name[i].text);
        zb__text_addf(&text, "%s\n%s\n", keys.name[i].text, object);
        free(object);
    }
    zb__names_free(&keys);
    return zb__text_take(&text, NULL);
}

/* A document as it stands in a block: a group's own block is an empty one, before node_type. */
static void put_entry(zb__text *block, const char *document) {
    static const char empty[] = "{\"kind\":\"inline\",\"must_understand\":false,\"metadata\":{}}";
    zb_json *json;
    zb_error err;
    ASSERT_OK(zb__json_parse_document(document, strlen(document), &json, &err), err);
    bool group = strcmp(zb_json_string(zb_json_get(json, "node_type")), "group") == 0;
    const char *comma = "{";
    for (const zb_json *m = zb_json_first(json); m; m = zb_json_next(m)) {
        if (strcmp(zb_json_name(m), "consolidated_metadata") == 0)
            continue;
        if (group && strcmp(zb_json_name(m), "node_type") == 0) {
            zb__text_addf(block, "%s\"consolidated_metadata\":%s", comma, empty);
            comma = ",";
        }
        char *value = zb_json_print(m);
        zb__text_addf(block, "%s\"%s\":%s", comma, zb_json_name(m), value);
        comma = ",";
        free(value);
    }
    zb__text_add(block, "}");
    zb_json_free(json);
}

/* The order of zarr-python: by depth, then by name. */
static int compare_paths(const void *a, const void *b) {
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    int depth = 0;
    for (const char *c = x; *c; c++)
        depth += *c == '/';
    for (const char *c = y; *c; c++)
        depth -= *c == '/';
    return depth ? depth : strcasecmp(x, y);
}

static char *make_block(zb_hierarchy *hierarchy) {
    zb__names nodes;
    zb_error err;
    zb__text block = {0};
    ASSERT_OK(zb__nodes_at(hierarchy, "", &nodes, &err), err);
    qsort(nodes.name, nodes.count, sizeof *nodes.name, compare_paths);
    zb__text_add(&block, "{\"kind\":\"inline\",\"must_understand\":false,\"metadata\":{");
    const char *comma = "";
    for (size_t i = 0; i < nodes.count; i++) {
        char key[256];
        if (*nodes.name[i].text == '\0')
            continue;
        snprintf(key, sizeof key, "%s/zarr.json", nodes.name[i].text);
        char *document = store_text(hierarchy, key);
        zb__text_addf(&block, "%s\"%s\":", comma, nodes.name[i].text);
        put_entry(&block, document);
        comma = ",";
        free(document);
    }
    zb__text_add(&block, "}}");
    zb__names_free(&nodes);
    return zb__text_take(&block, NULL);
}

void store_check_consolidated(zb_hierarchy *hierarchy) {
    zb_json *json;
    zb_error err;
    ASSERT_OK(zb_hierarchy_write_back(hierarchy, &err), err);
    store_expect(hierarchy, ".zarrbridge-consolidated", NULL);
    char *text = store_text(hierarchy, "zarr.json");
    if (!text)
        return;
    ASSERT_OK(zb__json_parse_document(text, strlen(text), &json, &err), err);
    const zb_json *block = zb_json_get(json, "consolidated_metadata");
    if (block) {
        char *there = zb_json_print(block);
        char *expected = make_block(hierarchy);
        if (strcmp(there, expected) != 0)
            fail_msg("consolidated metadata is\n%s\nexpected\n%s", there, expected);
        free(there);
        free(expected);
    }
    zb_json_free(json);
    free(text);
}

void store_check_truthful(zb_hierarchy *hierarchy) {
    char *text = store_text(hierarchy, "zarr.json");
    zb_json *json = NULL;
    zb_error err;
    if (text)
        ASSERT_OK(zb__json_parse_document(text, strlen(text), &json, &err), err);
    const zb_json *block = zb_json_get(json, "consolidated_metadata");
    const zb_json *entry = zb_json_first(zb_json_get(block, "metadata"));
    for (; entry; entry = zb_json_next(entry)) {
        char key[256];
        zb__text expected = {0};
        snprintf(key, sizeof key, "%s/zarr.json", zb_json_name(entry));
        char *document = store_text(hierarchy, key);
        if (!document)
            fail_msg("consolidated metadata has %s, which is not there", zb_json_name(entry));
        put_entry(&expected, document);
        char *there = zb_json_print(entry);
        assert_string_equal(there, expected.data);
        free(there);
        free(expected.data);
        free(document);
    }
    zb_json_free(json);
    free(text);
}

void store_consolidate(zb_hierarchy *hierarchy) {
    char *block = make_block(hierarchy);
    zb__text text = {0};
    zb__text_addf(&text,
                  "{\"attributes\":{},\"zarr_format\":3,\"consolidated_metadata\":%s,"
                  "\"node_type\":\"group\"}",
                  block);
    store_set(hierarchy, "zarr.json", text.data);
    free(text.data);
    free(block);
}

zb_hierarchy *store_tree(bool consolidated) {
    zb_hierarchy *hierarchy = store_new();
    zb_node_release(store_array(hierarchy, "b/c"));
    zb_node_release(store_array(hierarchy, "b/D/e"));
    zb_node_release(store_array(hierarchy, "a"));
    store_set(hierarchy, "b/c/c/0/0", "chunk");
    store_set(hierarchy, "b/c/c/2/3", "other");
    store_set(hierarchy, "b/D/e/c/1/1", "third");
    if (consolidated)
        store_consolidate(hierarchy);
    return hierarchy;
}

zb_node *store_group(zb_hierarchy *hierarchy, const char *path, const char *attributes) {
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_group_create(hierarchy, path, attributes, &node, &err), err);
    return node;
}

static const int16_t seven = 7;
const zb_array_spec store_spec = {.ndim = 2,
                                  .shape = (const uint64_t[]){10, 20},
                                  .inner_shape = (const uint64_t[]){4, 5},
                                  .dtype = {.kind = ZB_KIND_INT, .size = 2},
                                  .fill_value = &seven,
                                  .codecs = "[]"};

zb_node *store_array(zb_hierarchy *hierarchy, const char *path) {
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_array_create(hierarchy, path, &store_spec, &node, &err), err);
    return node;
}

zb_node *store_resize(zb_node *node, uint64_t rows, uint64_t columns) {
    zb_node *out;
    zb_error err;
    ASSERT_OK(zb_array_resize(node, (const uint64_t[]){rows, columns}, &out, &err), err);
    assert_int_equal(zb_node_array(out)->shape[0], rows);
    assert_int_equal(zb_node_array(out)->shape[1], columns);
    zb_node_release(node);
    return out;
}

void store_write_all(const zb_node *node, int16_t value) {
    zb_writer *writer;
    zb_error err;
    static const int64_t strides[2];
    zb_write write = {.data = &value, .dtype = zb_node_array(node)->dtype, .strides = strides};
    ASSERT_OK(zb_writer_open(node, NULL, &writer, &err), err);
    ASSERT_OK(zb_writer_write(writer, &write, &err), err);
    ASSERT_OK(zb_writer_close(writer, &err), err);
}
