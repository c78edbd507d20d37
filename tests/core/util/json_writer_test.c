/* SPDX-License-Identifier: MIT */
/* The writer: commas, escapes, numbers that come back, and texts that the parser takes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/json_writer.h"

static void ends_as(zb_json_writer *w, const char *expected) {
    size_t size;
    char *text = zb_json_writer_end(w, &size);
    assert_string_equal(text, expected);
    assert_int_equal(size, strlen(expected));
    free(text);
}

static void puts_commas_and_colons(void **state) {
    (void)state;
    zb_json_writer *w = zb_json_writer_new();
    zb_json_begin_object(w);
    zb_json_write_name(w, "list");
    zb_json_begin_array(w);
    zb_json_begin_array(w);
    zb_json_end_array(w);
    zb_json_begin_object(w);
    zb_json_end_object(w);
    zb_json_write_null(w);
    zb_json_write_bool(w, true);
    zb_json_write_bool(w, false);
    zb_json_end_array(w);
    zb_json_write_name(w, "");
    zb_json_write_raw(w, "[1, 2]");
    zb_json_write_name(w, "o");
    zb_json_begin_object(w);
    zb_json_write_name(w, "i");
    zb_json_write_int64(w, INT64_MIN);
    zb_json_write_name(w, "u");
    zb_json_write_uint64(w, UINT64_MAX);
    zb_json_end_object(w);
    zb_json_end_object(w);
    ends_as(w, "{\"list\":[[],{},null,true,false],\"\":[1, 2],"
               "\"o\":{\"i\":-9223372036854775808,\"u\":18446744073709551615}}");
    w = zb_json_writer_new();
    ends_as(w, "");
}

static void escapes_what_must_be(void **state) {
    (void)state;
    static const char text[] = "\"\\/\b\f\n\r\t\x01\x1f\x7f\0z\xc3\xa9";
    zb_json_writer *w = zb_json_writer_new();
    zb_json_begin_array(w);
    zb__json_write_text(w, text, sizeof text - 1);
    zb_json_write_string(w, text);
    zb_json_write_string(w, "");
    zb_json_end_array(w);
    ends_as(w, "[\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\\u0000z\xc3\xa9\","
               "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\",\"\"]");
}

static void writes_reals(void **state) {
    (void)state;
    zb_json_writer *w = zb_json_writer_new();
    zb_json_begin_array(w);
    zb_json_write_double(w, 0.1);
    zb_json_write_double(w, -0.0);
    zb_json_write_double(w, 100000);
    zb_json_write_double(w, 5e-324);
    zb_json_write_double(w, (double)NAN);
    zb_json_write_double(w, -(double)INFINITY);
    zb_json_write_float(w, 0.1f);
    zb_json_write_float(w, INFINITY);
    zb_json_write_float(w, 3.4028235e38f);
    zb_json_end_array(w);
    ends_as(w, "[0.1,-0.0,100000.0,5e-324,\"NaN\",\"-Infinity\",0.1,\"Infinity\",3.4028235e+38]");
}

/* Doubles and floats of all magnitudes are read as they were. */
static void reals_come_back(void **state) {
    (void)state;
    uint64_t bits = 1;
    for (int i = 0; i < 20000; i++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        uint32_t half = (uint32_t)(bits >> 32);
        double d, back;
        float f;
        memcpy(&d, &bits, sizeof d);
        memcpy(&f, &half, sizeof f);
        if (!isfinite(d) || !isfinite(f))
            continue;
        zb_json_writer *w = zb_json_writer_new();
        zb_json_begin_array(w);
        zb_json_write_double(w, d);
        zb_json_write_float(w, f);
        zb_json_end_array(w);
        char *text = zb_json_writer_end(w, NULL);
        zb_json *root;
        assert_int_equal(zb_json_parse(text, strlen(text), &root, NULL), ZB_OK);
        assert_true(zb_json_double(zb_json_first(root), &back));
        assert_memory_equal(&back, &d, sizeof d);
        assert_true(zb_json_double(zb_json_next(zb_json_first(root)), &back));
        assert_true((float)back == f);
        zb_json_free(root);
        free(text);
    }
}

static void prints_indented(void **state) {
    (void)state;
    static const char compact[] =
        "{\"a\":[1,\"x\",null],\"b\":[[1,2],{}],\"c\":{\"d\":[]},\"e\":{}}";
    zb_json *root;
    assert_int_equal(zb_json_parse(compact, strlen(compact), &root, NULL), ZB_OK);
    zb_json_writer w = zb__json_indented(1);
    zb_json_write_value(&w, root);
    char *text = zb__text_take(&w.text, NULL);
    assert_string_equal(text, "{\n    \"a\": [1, \"x\", null],\n    \"b\": [\n      [1, 2],\n"
                              "      {}\n    ],\n    \"c\": {\n      \"d\": []\n    },\n"
                              "    \"e\": {}\n  }");
    free(text);
    zb_json_free(root);
}

static void takes_no_writer(void **state) {
    (void)state;
    zb_json_begin_object(NULL);
    zb_json_write_name(NULL, "a");
    zb_json_write_double(NULL, 1);
    zb_json_write_value(NULL, NULL);
    zb_json_end_object(NULL);
    assert_null(zb_json_writer_end(NULL, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_commas_and_colons), cmocka_unit_test(escapes_what_must_be),
        cmocka_unit_test(writes_reals),           cmocka_unit_test(reals_come_back),
        cmocka_unit_test(prints_indented),        cmocka_unit_test(takes_no_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
