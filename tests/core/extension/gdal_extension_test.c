/* SPDX-License-Identifier: MIT */
/* The GDAL extension: what is parsed, of which versions, and what changes make of it. */
#include "support/check.h"

#include "zarrbridge/gdal_extension.h"

#include <stdlib.h>
#include <string.h>

#define FULL "{\\\"version\\\":1,\\\"pam\\\":\\\"<P/>\\\",\\\"mask\\\":\\\"m\\\"}"

typedef struct sample {
    zb_json *attributes;
    zb_gdal_extension *extension;
} sample;

static sample parse(const char *attributes) {
    sample made = {.attributes = NULL};
    assert_int_equal(zb_json_parse(attributes, strlen(attributes), &made.attributes, NULL), ZB_OK);
    assert_int_equal(zb_gdal_extension_parse(made.attributes, &made.extension, NULL), ZB_OK);
    return made;
}

static void clear(sample *made) {
    zb_gdal_extension_free(made->extension);
    zb_json_free(made->attributes);
}

static const zb_json *get(const sample *made, enum zb_gdal_member member) {
    return zb_gdal_extension_get(made->extension, member);
}

static void assert_text(const sample *made, enum zb_gdal_member member, const char *wanted) {
    assert_non_null(get(made, member));
    assert_string_equal(zb_json_string(get(made, member)), wanted);
}

/* The object after a change of one member; NULL: no attribute. */
static void assert_changed(const sample *made, enum zb_gdal_member member, const char *value,
                           const char *wanted) {
    zb_json *string = NULL;
    char *text;
    const zb_gdal_change change = {member, value};
    assert_int_equal(zb_gdal_extension_change(made->extension, &change, 1, &text, NULL), ZB_OK);
    if (wanted) {
        assert_non_null(text);
        assert_int_equal(zb_json_parse(text, strlen(text), &string, NULL), ZB_OK);
        assert_string_equal(zb_json_string(string), wanted);
    } else {
        assert_null(text);
    }
    zb_json_free(string);
    free(text);
}

static void members_are_parsed(void **state) {
    (void)state;
    sample made = parse("{\"a\":1,\"zarrbridge:gdal\":\"" FULL "\"}");
    assert_text(&made, ZB_GDAL_PAM, "<P/>");
    assert_text(&made, ZB_GDAL_MASK, "m");
    assert_null(get(&made, ZB_GDAL_HAS_CRS));
    clear(&made);
}

static void nodes_without_it_have_none(void **state) {
    static const char *const others[] = {"{}", "[]", "1", "{\"gdal\":\"" FULL "\"}"};
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        sample made = parse(others[i]);
        assert_null(made.extension);
        clear(&made);
    }
}

static void members_have_their_kind(void **state) {
    (void)state;
    sample made = parse("{\"zarrbridge:gdal\":\"{\\\"version\\\":1,\\\"mask\\\":1,\\\"has_crs\\\":"
                        "0,\\\"level_of\\\":[],\\\"pam\\\":{}}\"}");
    for (unsigned i = 0; i < ZB_GDAL_MEMBERS; i++)
        assert_null(get(&made, (enum zb_gdal_member)i));
    clear(&made);
}

static void earlier_names_are_read(void **state) {
    (void)state;
    sample made = parse("{\"zarrbridge:gdal\":\"<P/>\",\"zarrbridge:mask\":\"m\","
                        "\"zarrbridge:has_crs\":false,\"zarrbridge:level_of\":{\"raster\":\"r\"},"
                        "\"zarrbridge:pam\":\"no\",\"zarrbridge:coordinate_epoch\":2020.5}");
    double epoch;
    assert_text(&made, ZB_GDAL_PAM, "<P/>");
    assert_text(&made, ZB_GDAL_MASK, "m");
    assert_int_equal(zb_json_kind_of(get(&made, ZB_GDAL_HAS_CRS)), ZB_JSON_BOOL);
    assert_non_null(zb_json_get(get(&made, ZB_GDAL_LEVEL_OF), "raster"));
    assert_true(zb_json_double(get(&made, ZB_GDAL_COORDINATE_EPOCH), &epoch) && epoch == 2020.5);
    clear(&made);
    made = parse("{\"zarrbridge:mask\":\"old\",\"zarrbridge:gdal\":\"" FULL "\"}");
    assert_text(&made, ZB_GDAL_MASK, "m");
    clear(&made);
    assert_string_equal(zb_gdal_former_name(ZB_GDAL_MASK), "zarrbridge:mask");
    assert_null(zb_gdal_former_name(ZB_GDAL_PAM));
    assert_true(zb_gdal_owns_attribute("zarrbridge:other"));
    assert_false(zb_gdal_owns_attribute("zarrbridge"));
}

static void changes_take_earlier_names_along(void **state) {
    (void)state;
    sample made = parse("{\"zarrbridge:gdal\":\"<P/>\",\"zarrbridge:mask\":\"m\"}");
    assert_changed(&made, ZB_GDAL_HAS_CRS, "false",
                   "{\"version\":1,\"pam\":\"<P/>\",\"mask\":\"m\",\"has_crs\":false}");
    assert_changed(&made, ZB_GDAL_MASK, NULL, "{\"version\":1,\"pam\":\"<P/>\"}");
    clear(&made);
    made = parse("{\"zarrbridge:mask\":\"m\"}");
    assert_changed(&made, ZB_GDAL_MASK, NULL, NULL);
    clear(&made);
    made = parse("{}");
    assert_changed(&made, ZB_GDAL_MASK, NULL, NULL);
    assert_changed(&made, ZB_GDAL_MASK, "\"m\"", "{\"version\":1,\"mask\":\"m\"}");
    clear(&made);
}

static void unknown_members_stay(void **state) {
    (void)state;
    sample made = parse("{\"zarrbridge:gdal\":\"{\\\"later\\\":[1.50],\\\"version\\\":1}\"}");
    assert_changed(&made, ZB_GDAL_MASK, "\"m\"", "{\"version\":1,\"later\":[1.50],\"mask\":\"m\"}");
    assert_changed(&made, ZB_GDAL_MASK, NULL, "{\"version\":1,\"later\":[1.50]}");
    clear(&made);
}

static void another_version_is_left_alone(void **state) {
    (void)state;
    sample made = parse("{\"zarrbridge:gdal\":\"{\\\"version\\\":2,\\\"mask\\\":\\\"m\\\"}\","
                        "\"zarrbridge:has_crs\":false}");
    assert_null(get(&made, ZB_GDAL_MASK));
    assert_null(get(&made, ZB_GDAL_PAM));
    assert_non_null(get(&made, ZB_GDAL_HAS_CRS));
    zb_error err;
    char *text;
    assert_int_equal(zb_gdal_extension_change(made.extension, NULL, 0, &text, &err),
                     ZB_EUNSUPPORTED);
    assert_non_null(strstr(err.message, "zarrbridge:gdal"));
    assert_null(text);
    clear(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_parsed),
        cmocka_unit_test(nodes_without_it_have_none),
        cmocka_unit_test(members_have_their_kind),
        cmocka_unit_test(earlier_names_are_read),
        cmocka_unit_test(changes_take_earlier_names_along),
        cmocka_unit_test(unknown_members_stay),
        cmocka_unit_test(another_version_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
