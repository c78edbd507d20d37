/* SPDX-License-Identifier: MIT */
/* Types built by hand: equality, what points at bytes elsewhere, fields, units, and how all of it
   is printed. */
#include "support/check.h"

#include "zarrbridge/dtype.h"

static const zb_dtype float4 = {.kind = ZB_KIND_FLOAT, .size = 4},
                      text = {.kind = ZB_KIND_STRING, .size = sizeof(zb_slice)};
static const zb_dtype_detail microseconds = {.unit = ZB_UNIT_MICROSECOND, .scale = 10},
                             same_microseconds = {.unit = ZB_UNIT_MICROSECOND, .scale = 10},
                             days = {.unit = ZB_UNIT_DAY, .scale = 1};

static zb_dtype time_of(enum zb_kind kind, const zb_dtype_detail *detail) {
    return (zb_dtype){.kind = kind, .size = 8, .detail = detail};
}

static zb_dtype struct_of(const zb_dtype_detail *detail, uint32_t size) {
    return (zb_dtype){.kind = ZB_KIND_STRUCT, .size = size, .detail = detail};
}

static void equality_of_numbers(void **state) {
    (void)state;
    zb_dtype swapped = float4, byte = {.kind = ZB_KIND_INT, .size = 1}, other = byte;
    swapped.swapped = other.swapped = true;
    assert_true(zb_dtype_equal(float4, float4));
    assert_false(zb_dtype_equal(float4, swapped));
    assert_true(zb_dtype_equal(byte, other)); /* one byte has no order */
    assert_false(zb_dtype_equal(float4, (zb_dtype){.kind = ZB_KIND_FLOAT, .size = 8}));
    assert_false(zb_dtype_equal(float4, (zb_dtype){.kind = ZB_KIND_INT, .size = 4}));
    zb_dtype raw = {.kind = ZB_KIND_RAW, .size = 4}, raw_swapped = raw;
    raw_swapped.swapped = true;
    assert_true(zb_dtype_equal(raw, raw_swapped));
}

static void equality_of_times(void **state) {
    (void)state;
    zb_dtype a = time_of(ZB_KIND_DATETIME, &microseconds), b = a, c = a;
    b.detail = &same_microseconds;
    c.detail = &days;
    assert_true(zb_dtype_equal(a, b)); /* what it says counts, not where it is */
    assert_false(zb_dtype_equal(a, c));
    assert_false(zb_dtype_equal(a, time_of(ZB_KIND_TIMEDELTA, &microseconds)));
    assert_false(zb_dtype_equal(a, time_of(ZB_KIND_DATETIME, NULL)));
    b.swapped = true;
    assert_false(zb_dtype_equal(a, b));
    /* Conversion changes the byte order, nothing else of such a type. */
    assert_true(zb_dtype_converts(a, b));
    assert_false(zb_dtype_converts(a, c));
    /* A count of units is an int64 to programs, and nothing else. */
    assert_true(zb_dtype_converts(a, (zb_dtype){.kind = ZB_KIND_INT, .size = 8}));
    assert_true(zb_dtype_converts((zb_dtype){.kind = ZB_KIND_INT, .size = 8}, b));
    assert_false(zb_dtype_converts(a, (zb_dtype){.kind = ZB_KIND_INT, .size = 4}));
    assert_false(zb_dtype_converts(a, (zb_dtype){.kind = ZB_KIND_UINT, .size = 8}));
    assert_false(zb_dtype_converts(a, (zb_dtype){.kind = ZB_KIND_FLOAT, .size = 8}));
}

static void structs(void **state) {
    (void)state;
    zb_dtype when = time_of(ZB_KIND_DATETIME, &microseconds);
    const zb_field fields[] = {{"x", 0, float4}, {"when", 8, when}},
                   renamed[] = {{"x", 0, float4}, {"then", 8, when}},
                   moved[] = {{"x", 4, float4}, {"when", 8, when}},
                   with_text[] = {{"x", 0, float4}, {"t", 8, text}};
    const zb_dtype_detail a = {.fields = fields, .field_count = 2},
                          again = {.fields = fields, .field_count = 2},
                          b = {.fields = renamed, .field_count = 2},
                          c = {.fields = moved, .field_count = 2},
                          shorter = {.fields = fields, .field_count = 1},
                          d = {.fields = with_text, .field_count = 2};
    assert_true(zb_dtype_equal(struct_of(&a, 16), struct_of(&again, 16)));
    assert_false(zb_dtype_equal(struct_of(&a, 16), struct_of(&b, 16)));
    assert_false(zb_dtype_equal(struct_of(&a, 16), struct_of(&c, 16)));
    assert_false(zb_dtype_equal(struct_of(&a, 16), struct_of(&shorter, 16)));
    assert_false(zb_dtype_equal(struct_of(&a, 16), struct_of(&a, 24)));
    assert_false(zb_dtype_is_variable(struct_of(&a, 16)));
    assert_true(zb_dtype_is_variable(struct_of(&d, 24)));

    size_t count;
    assert_ptr_equal(zb_dtype_fields(struct_of(&a, 16), &count), fields);
    assert_int_equal(count, 2);
    assert_ptr_equal(zb_dtype_field(struct_of(&a, 16), "when"), &fields[1]);
    assert_null(zb_dtype_field(struct_of(&a, 16), "y"));
    assert_null(zb_dtype_fields(float4, &count));
    assert_int_equal(count, 0);
    /* Inside another one. */
    const zb_field outer_fields[] = {{"inner", 0, struct_of(&d, 24)}};
    const zb_dtype_detail outer = {.fields = outer_fields, .field_count = 1};
    assert_true(zb_dtype_is_variable(struct_of(&outer, 24)));
    char printed[120];
    assert_string_equal(zb_dtype_print(struct_of(&outer, 24), printed, sizeof printed),
                        "struct{inner: struct{x: float32, t: string}}");
    assert_string_equal(zb_dtype_print(struct_of(&a, 16), printed, sizeof printed),
                        "struct{x: float32, when: numpy.datetime64[10us]}");
    assert_string_equal(zb_dtype_print(struct_of(&a, 16), printed, 12), "struct{x: f");
    assert_string_equal(zb_dtype_print(struct_of(&a, 16), printed, 1), "");
}

static void variable_and_units(void **state) {
    (void)state;
    char name[ZB_DTYPE_NAME_SIZE];
    uint32_t scale;
    zb_dtype bytes = {.kind = ZB_KIND_BYTES, .size = sizeof(zb_slice)};
    assert_true(zb_dtype_is_variable(text));
    assert_true(zb_dtype_is_variable(bytes));
    assert_false(zb_dtype_is_variable(float4));
    assert_true(zb_dtype_converts(text, text));
    assert_false(zb_dtype_converts(text, bytes));
    assert_false(zb_dtype_converts(text, float4));
    assert_string_equal(zb_dtype_name(text, name), "string");
    assert_string_equal(zb_dtype_name(bytes, name), "bytes");
    assert_int_equal(zb_dtype_unit(time_of(ZB_KIND_DATETIME, &microseconds), &scale),
                     ZB_UNIT_MICROSECOND);
    assert_int_equal(scale, 10);
    assert_int_equal(zb_dtype_unit(time_of(ZB_KIND_TIMEDELTA, &days), NULL), ZB_UNIT_DAY);
    assert_int_equal(zb_dtype_unit(float4, &scale), ZB_UNIT_GENERIC);
    assert_int_equal(scale, 0);
    char printed[40];
    assert_string_equal(zb_dtype_print(time_of(ZB_KIND_TIMEDELTA, &days), printed, 40),
                        "numpy.timedelta64[D]");
    assert_string_equal(zb_dtype_print(time_of(ZB_KIND_DATETIME, NULL), printed, 40),
                        "numpy.datetime64[generic]");
    assert_string_equal(zb_time_unit_name(ZB_UNIT_ATTOSECOND), "as");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equality_of_numbers),
        cmocka_unit_test(equality_of_times),
        cmocka_unit_test(structs),
        cmocka_unit_test(variable_and_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
