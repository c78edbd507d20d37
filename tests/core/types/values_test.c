/* SPDX-License-Identifier: MIT */
/* Elements of variable length: which text is UTF-8, and copies and measures of boxes. */
#include "support/check.h"

#include "types/values.h"
#include "util/utf8.h"
#include "util/utf8.h"

static const zb_dtype string = {.kind = ZB_KIND_STRING, .size = sizeof(zb_slice)};

/* Character by character. */
static bool slowly_utf8(const char *text, size_t size) {
    size_t at = 0, length = 1;
    for (; at < size && length > 0; at += length)
        length = zb__utf8_length(text + at, size - at);
    return length > 0;
}

/* Every length around the words of which text is looked at, with each piece at each place. */
static void text_of_all_lengths(void **state) {
    (void)state;
    static const char *const pieces[] = {
        "a",                                                    /* one, two, three and four bytes */
        "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x8c\x8d", "\x80", /* no beginning */
        "\xc3",     "\xe2\x82",     "\xf0\x9f\x8c",             /* no end */
        "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff",
    };
    size_t bad = 0, good = 0;
    for (size_t size = 0; size <= 40; size++) {
        for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
            for (size_t at = 0; at + strlen(pieces[p]) <= size; at++) {
                char *text =
                    malloc(size ? size : 1); /* exact, so that the sanitizer sees its ends */
                memset(text, 'x', size);
                memcpy(text + at, pieces[p], strlen(pieces[p]));
                assert_int_equal(zb__is_utf8(text, size), slowly_utf8(text, size));
                good += zb__is_utf8(text, size);
                bad += !zb__is_utf8(text, size);
                free(text);
            }
        }
    }
    assert_true(good > 1000 && bad > 1000);
    assert_true(zb__is_utf8(NULL, 0));
}

/* The element (z, y, x) of the source is the text "zyx" and as many dots as x. */
enum { Z = 3, Y = 4, X = 5, ELEMENTS = Z * Y * X };

static void make_texts(char texts[ELEMENTS][16], zb_slice *elements) {
    for (int i = 0; i < ELEMENTS; i++) {
        int x = i % X;
        int size = snprintf(texts[i], 16, "%d%d%d%.*s", i / (Y * X), i / X % Y, x, x, "....");
        elements[i] = (zb_slice){.data = texts[i], .size = (size_t)size};
    }
}

static bool is_text(const zb_slice *slice, const zb_slice *wanted) {
    return slice->size == wanted->size && memcmp(slice->data, wanted->data, slice->size) == 0 &&
           slice->data != wanted->data;
}

static void boxes_of_three_dimensions(void **state) {
    (void)state;
    char texts[ELEMENTS][16];
    zb_slice elements[ELEMENTS], out[2 * 3 * 2];
    zb_values *values;
    zb_error err;
    uint64_t bytes;
    make_texts(texts, elements);
    const int64_t item = sizeof(zb_slice);
    const uint64_t count[3] = {2, 3, 2};
    const int64_t from[3] = {Y * X * item, X * item, 2 * item}; /* every second x */
    const int64_t to[3] = {item, 2 * item, 6 * item};           /* Fortran's order */
    const zb__box_copy box = {.ndim = 3,
                              .count = count,
                              .src_strides = from,
                              .dst_strides = to,
                              .src_dtype = string,
                              .dst_dtype = string};
    ASSERT_OK(zb_values_new(&values, &err), err);
    ASSERT_OK(zb__values_measure(&box, elements, &bytes, &err), err);
    assert_int_equal(bytes, 2 * 3 * (3 + 5)); /* x is 0 and 2 */
    ASSERT_OK(zb__values_copy(values, &box, elements, out, &err), err);
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 3; y++)
            for (int x = 0; x < 2; x++)
                assert_true(is_text(&out[z + 2 * y + 6 * x], &elements[(z * Y + y) * X + 2 * x]));
    zb_values_free(values);
}

/* No dimensions: one element. A count of 0: none. */
static void boxes_at_the_ends(void **state) {
    (void)state;
    zb_slice element = {.data = "text", .size = 4}, out = {.size = 99};
    zb_values *values;
    zb_error err;
    uint64_t bytes;
    const uint64_t none[2] = {3, 0};
    const int64_t strides[2] = {16, 16};
    zb__box_copy box = {.src_dtype = string, .dst_dtype = string};
    ASSERT_OK(zb_values_new(&values, &err), err);
    ASSERT_OK(zb__values_measure(&box, &element, &bytes, &err), err);
    assert_int_equal(bytes, 4);
    ASSERT_OK(zb__values_copy(values, &box, &element, &out, &err), err);
    assert_true(is_text(&out, &element));
    box.ndim = 2;
    box.count = none;
    box.src_strides = box.dst_strides = strides;
    out.size = 99;
    ASSERT_OK(zb__values_measure(&box, &element, &bytes, &err), err);
    assert_int_equal(bytes, 0);
    ASSERT_OK(zb__values_copy(values, &box, &element, &out, &err), err);
    assert_int_equal(out.size, 99);
    zb_values_free(values);
}

/* The message counts elements in C order, over all rows. */
static void the_place_of_bad_text(void **state) {
    (void)state;
    char texts[ELEMENTS][16];
    zb_slice elements[ELEMENTS];
    zb_error err;
    uint64_t bytes;
    make_texts(texts, elements);
    elements[33] = (zb_slice){.data = "\xff", .size = 1};
    const int64_t item = sizeof(zb_slice), strides[3] = {Y * X * item, X * item, item};
    const uint64_t count[3] = {Z, Y, X};
    const zb__box_copy box = {.ndim = 3,
                              .count = count,
                              .src_strides = strides,
                              .src_dtype = string,
                              .dst_dtype = string};
    ASSERT_FAILS(zb__values_measure(&box, elements, &bytes, &err), ZB_EINVAL, err,
                 "element 33 of the box is no UTF-8 text");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_of_all_lengths),
        cmocka_unit_test(boxes_of_three_dimensions),
        cmocka_unit_test(boxes_at_the_ends),
        cmocka_unit_test(the_place_of_bad_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
