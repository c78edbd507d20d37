/* SPDX-License-Identifier: MIT */
/* The HDF5 extension: what is parsed, how changes of two programs merge, what copies take along. */
#include "support/check.h"

#include "zarrbridge/hdf5_extension.h"

#include <stdlib.h>
#include <string.h>

static zb_json *json_of(const char *text) {
    zb_json *json;
    assert_int_equal(zb_json_parse(text, strlen(text), &json, NULL), ZB_OK);
    return json;
}

/* Of an object's text, which the attribute has as a string. */
static zb_hdf5_extension *parse(const char *object) {
    zb_json_writer *out = zb_json_writer_new();
    zb_json_write_string(out, object);
    char *text = zb_json_writer_end(out, NULL);
    zb_json *value = json_of(text);
    zb_hdf5_extension *extension;
    assert_int_equal(zb_hdf5_extension_parse(value, &extension, NULL), ZB_OK);
    zb_json_free(value);
    free(text);
    return extension;
}

/* The object in a value that a call gave, which is freed; "" for none. */
static char *object_in(char *value) {
    if (!value)
        return strdup("");
    zb_json *json = json_of(value);
    char *text = strdup(zb_json_string(json));
    zb_json_free(json);
    free(value);
    return text;
}

static void assert_object(char *value, const char *wanted) {
    char *text = object_in(value);
    assert_string_equal(text, wanted);
    free(text);
}

static void each_member_has_a_row(void **state) {
    (void)state;
    for (int i = 0; i < ZB_HDF5_MEMBERS; i++) {
        const char *name = zb_hdf5_member_name((enum zb_hdf5_member)i);
        assert_non_null(name);
        assert_int_equal(zb_hdf5_member_called(name), i);
    }
    assert_int_equal(zb_hdf5_member_called("version"), ZB_HDF5_MEMBERS);
}

static void only_ours_is_parsed(void **state) {
    static const char *const others[] = {
        "", "{", "[]", "1", "{}", "{\"version\":2}", "{\"version\":\"1\"}", "{\"version\":1.0}"};
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_null(parse(others[i]));
    zb_json *object = json_of("{\"version\":1}");
    zb_hdf5_extension *extension;
    assert_int_equal(zb_hdf5_extension_parse(object, &extension, NULL), ZB_OK); /* no text */
    assert_null(extension);
    assert_int_equal(zb_hdf5_extension_parse(NULL, &extension, NULL), ZB_OK);
    assert_null(extension);
    zb_json_free(object);
}

static void members_have_their_kind(void **state) {
    (void)state;
    zb_hdf5_extension *e = parse("{\"version\":1,\"links\":[],\"comment\":\"a\",\"names\":{},"
                                 "\"attributes\":{\"a\":{\"named\":\"/t\"}}}");
    assert_null(zb_hdf5_extension_get(e, ZB_HDF5_LINKS));
    assert_null(zb_hdf5_extension_get(e, ZB_HDF5_NAMES));
    assert_string_equal(zb_json_string(zb_hdf5_extension_get(e, ZB_HDF5_COMMENT)), "a");
    assert_null(zb_hdf5_extension_entry(e, "b"));
    assert_true(zb_hdf5_extension_uses_types(e));
    char *renamed = zb_hdf5_entry_rename(zb_hdf5_extension_entry(e, "a"), "/u");
    assert_string_equal(renamed, "{\"named\":\"/u\"}");
    free(renamed);
    zb_hdf5_extension *copy = zb_hdf5_extension_copy(e);
    zb_hdf5_extension_free(e);
    assert_string_equal(zb_json_string(zb_hdf5_extension_get(copy, ZB_HDF5_COMMENT)), "a");
    zb_hdf5_extension_free(copy);
}

/* Changes as {"member": value, ...}, and, in an object `entries` of one, those of its entries. */
static char *change(const char *base, const char *now, const char *changes, zb_hdf5_has_fn has) {
    zb_hdf5_extension *b = base ? parse(base) : NULL, *n = now ? parse(now) : NULL;
    zb_json *json = json_of(changes);
    zb_hdf5_change list[16];
    size_t count = 0;
    for (const zb_json *one = zb_json_first(json); one; one = zb_json_next(one)) {
        const zb_json *value = zb_json_kind_of(one) == ZB_JSON_NULL ? NULL : one;
        char *name = strdup(zb_json_name(one)), *entry = strchr(name, '.');
        if (entry)
            *entry++ = '\0';
        list[count] = (zb_hdf5_change){.member = zb_hdf5_member_called(name), .value = value};
        list[count++].entry = entry ? strchr(zb_json_name(one), '.') + 1 : NULL;
        free(name);
    }
    char *out;
    zb_error err;
    assert_int_equal(
        zb_hdf5_extension_change(base == now ? n : b, n, list, count, has, NULL, &out, &err),
        ZB_OK);
    zb_json_free(json);
    zb_hdf5_extension_free(b);
    zb_hdf5_extension_free(n);
    return out;
}

static bool has_a(void *context, const char *name) {
    (void)context;
    return strcmp(name, "a") == 0;
}

static void changes_keep_the_rest(void **state) {
    (void)state;
    assert_object(change(NULL, NULL, "{\"comment\":\"x\"}", NULL),
                  "{\"version\":1,\"comment\":\"x\"}");
    const char *now =
        "{\"version\":1,\"odd\":[1],\"comment\":\"x\",\"links\":{\"l\":{\"soft\":\"m\"}},"
        "\"attributes\":{\"a\":{},\"b\":{}}}";
    assert_object(
        change(now, now, "{\"comment\":null,\"space\":\"null\"}", NULL),
        "{\"version\":1,\"odd\":[1],\"links\":{\"l\":{\"soft\":\"m\"}},\"space\":\"null\","
        "\"attributes\":{\"a\":{},\"b\":{}}}");
    assert_object(
        change(now, now, "{\"links.k\":{\"soft\":\"n\"},\"attributes.b\":{\"x\":1}}", NULL),
        "{\"version\":1,\"odd\":[1],\"comment\":\"x\",\"links\":{\"l\":{\"soft\":\"m\"},"
        "\"k\":{\"soft\":\"n\"}},\"attributes\":{\"a\":{},\"b\":{\"x\":1}}}");
    assert_object(change(now, now, "{\"links.l\":null}", has_a),
                  "{\"version\":1,\"odd\":[1],\"comment\":\"x\",\"attributes\":{\"a\":{}}}");
    const char *one = "{\"version\":1,\"comment\":\"x\"}";
    assert_null(change(one, one, "{\"comment\":null}", NULL));
}

static void lists_of_names_merge(void **state) {
    (void)state;
    const char *base = "{\"version\":1,\"names\":[\"a\",\"b\"],\"order\":[\"a\",\"b\"]}";
    const char *now = "{\"version\":1,\"names\":[\"b\",\"c\"],\"order\":[\"b\",\"c\"]}";
    assert_object(
        change(base, now, "{\"names\":[\"a\",\"b\",\"d\"],\"order\":[\"a\",\"b\",\"d\"]}", NULL),
        "{\"version\":1,\"names\":[\"b\",\"d\",\"c\"],\"order\":[1,\"b\",\"d\",\"c\"]}");
    assert_object(change(base, now, "{\"names\":null}", NULL),
                  "{\"version\":1,\"order\":[\"b\",\"c\"],\"names\":[\"c\"]}");
}

/* Two programs that attach to one scale, or to two dimensions of one dataset, or make a dimension
   each. */
static void entries_merge(void **state) {
    (void)state;
    const char *base =
        "{\"version\":1,\"scales\":{\"CLASS\":{\"value\":\"S\"},\"REFERENCE_LIST\":{\"shape\":[2],"
        "\"value\":[{\"dataset\":\"../a\"},{\"dataset\":\"../b\"}]}},\"dimensions\":{\"x\":1}}";
    const char *now =
        "{\"version\":1,\"scales\":{\"CLASS\":{\"value\":\"S\"},\"REFERENCE_LIST\":{\"shape\":[2],"
        "\"value\":[{\"dataset\":\"../b\"},{\"dataset\":\"../c\"}]}},\"dimensions\":{\"y\":2}}";
    const char *ours =
        "{\"scales\":{\"CLASS\":{\"value\":\"T\"},\"REFERENCE_LIST\":{\"shape\":[3],"
        "\"value\":[{\"dataset\":\"../a\"},{\"dataset\":\"../b\"},{\"dataset\":\"../d\"}]}},"
        "\"dimensions\":{\"x\":1,\"z\":3}}";
    assert_object(
        change(base, now, ours, NULL),
        "{\"version\":1,\"scales\":{\"CLASS\":{\"value\":\"T\"},\"REFERENCE_LIST\":{\"shape\":[3],"
        "\"value\":[{\"dataset\":\"../b\"},{\"dataset\":\"../d\"},{\"dataset\":\"../c\"}]}},"
        "\"dimensions\":{\"z\":3,\"y\":2}}");
    assert_object(change(base, now, "{\"scales\":{\"CLASS\":{\"value\":\"S\"}}}", NULL),
                  "{\"version\":1,\"dimensions\":{\"y\":2},\"scales\":{\"CLASS\":{\"value\":\"S\"},"
                  "\"REFERENCE_LIST\":{\"shape\":[1],\"value\":[{\"dataset\":\"../c\"}]}}}");
    assert_object(
        change(base, base, "{\"dimensions\":null}", NULL),
        "{\"version\":1,\"scales\":{\"CLASS\":"
        "{\"value\":\"S\"},\"REFERENCE_LIST\":{\"shape\":[2],\"value\":[{\"dataset\":\"../a\"},"
        "{\"dataset\":\"../b\"}]}}}");
    assert_null(change(base, NULL, "{\"scales\":null,\"dimensions\":null}", NULL));
    now =
        "{\"version\":1,\"scales\":{\"LIST\":{\"value\":[[\"../x\"],[]]},\"names\":[\"x\",null]}}";
    assert_object(
        change(NULL, now,
               "{\"scales\":{\"LIST\":{\"value\":[[],[\"../y\"]]},\"names\":[null,\"y\"]}}", NULL),
        "{\"version\":1,\"scales\":{\"LIST\":{\"value\":[[\"../x\"],[\"../"
        "y\"]]},\"names\":[\"x\",\"y\"]}}");
    assert_object(change(NULL,
                         "{\"version\":1,\"dimensions\":{\"x\":{\"_hdf5\":"
                         "\"{\\\"version\\\":1,\\\"a\\\":1}\"}}}",
                         "{\"dimensions\":{\"x\":{\"_hdf5\":"
                         "\"{\\\"version\\\":1,\\\"b\\\":2}\"}}}",
                         NULL),
                  "{\"version\":1,\"dimensions\":{\"x\":{\"_hdf5\":"
                  "\"{\\\"version\\\":1,\\\"b\\\":2,\\\"a\\\":1}\"}}}");
}

static void copies_take_what_is_true_of_them(void **state) {
    (void)state;
    zb_hdf5_extension *e =
        parse("{\"version\":1,\"type\":\"<i2\",\"maxshape\":[null],\"named\":\"/"
              "t\",\"moved\":{\"\":\"\"},"
              "\"links\":{},\"comment\":\"x\",\"scales\":{},\"odd\":1,\"attributes\":{"
              "\"a\":{\"type\":\"<i2\",\"named\":\"/t\"},\"b\":{\"type\":\"<i2\"},"
              "\"r\":{\"type\":{\"class\":\"reference\"}},\"l\":{\"array\":\"x\"}}}");
    char *out;
    zb_error err;
    assert_int_equal(zb_hdf5_extension_for_copies(e, false, NULL, NULL, &out, &err), ZB_OK);
    assert_object(out, "{\"version\":1,\"type\":\"<i2\",\"comment\":\"x\",\"attributes\":{"
                       "\"a\":{\"type\":\"<i2\"},\"b\":{\"type\":\"<i2\"}}}");
    assert_int_equal(zb_hdf5_extension_for_copies(e, true, has_a, NULL, &out, &err), ZB_OK);
    assert_object(out, "{\"version\":1,\"type\":\"<i2\",\"maxshape\":[null],\"comment\":\"x\","
                       "\"attributes\":{\"a\":{\"type\":\"<i2\"}}}");
    zb_hdf5_extension_free(e);
    assert_int_equal(zb_hdf5_extension_for_copies(NULL, true, NULL, NULL, &out, &err), ZB_OK);
    assert_null(out);
}

static void a_join_keeps_or_follows(void **state) {
    (void)state;
    zb_hdf5_extension *own =
        parse("{\"version\":1,\"comment\":\"own\",\"scales\":{},\"attributes\":{"
              "\"a\":{\"own\":1},\"b\":{\"own\":1}}}");
    zb_hdf5_extension *copied =
        parse("{\"version\":1,\"comment\":\"new\",\"type\":\"<i2\",\"attributes\":{\"c\":{}}}");
    char *out;
    zb_error err;
    assert_int_equal(zb_hdf5_extension_join(own, copied, false, NULL, NULL, &out, &err), ZB_OK);
    assert_object(out, "{\"version\":1,\"comment\":\"own\",\"scales\":{},\"type\":\"<i2\","
                       "\"attributes\":{\"c\":{},\"a\":{\"own\":1},\"b\":{\"own\":1}}}");
    assert_int_equal(zb_hdf5_extension_join(own, copied, true, has_a, NULL, &out, &err), ZB_OK);
    assert_object(out, "{\"version\":1,\"scales\":{},\"comment\":\"new\",\"type\":\"<i2\","
                       "\"attributes\":{\"c\":{},\"a\":{\"own\":1}}}");
    assert_int_equal(zb_hdf5_extension_join(NULL, NULL, true, has_a, NULL, &out, &err), ZB_OK);
    assert_null(out);
    zb_hdf5_extension_free(own);
    zb_hdf5_extension_free(copied);
}

static void paths_resolve_below_the_root(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"a/b", "../c", "a/c"}, {"a", ".", "a"}, {"", "x//y", "x/y"}, {"a/b", "../../c", "c"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *path = zb_path_resolve(cases[i][0], cases[i][1]);
        assert_string_equal(path, cases[i][2]);
        free(path);
    }
    assert_null(zb_path_resolve("a", "../../b"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_member_has_a_row),
        cmocka_unit_test(only_ours_is_parsed),
        cmocka_unit_test(members_have_their_kind),
        cmocka_unit_test(changes_keep_the_rest),
        cmocka_unit_test(lists_of_names_merge),
        cmocka_unit_test(entries_merge),
        cmocka_unit_test(copies_take_what_is_true_of_them),
        cmocka_unit_test(a_join_keeps_or_follows),
        cmocka_unit_test(paths_resolve_below_the_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
