/* SPDX-License-Identifier: MIT */
/* A text of pieces is the same text as a whole one, and copies none but short ones of what is
   borrowed. */
#include "change/text_parts.h"

#include <stdlib.h>

#include "support/check.h"

enum { SIZE = 80000 };

/* The parts behind each other; the caller frees. */
static char *join(const zb_part *parts, size_t count, size_t *size) {
    zb__text whole = {0};
    for (size_t i = 0; i < count; i++) {
        assert_true(parts[i].size > 0);
        zb__text_put(&whole, parts[i].data, parts[i].size);
    }
    return zb__text_take(&whole, size);
}

/* Runs of many lengths, with own text between, before and behind them where `own` has bits. */
static void check_mixture(const char *lender, unsigned own) {
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 50000, 100, 70000, 70000, 3};
    zb__text_parts pieces = {.count = 0};
    zb__text expected = {0};
    zb_error err;
    size_t size, expected_size, borrowed = 0, found = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (own >> i & 1) {
            zb__text_parts_copy(&pieces, "<own>", 5);
            zb__text_parts_add_line(&pieces, 1);
            zb__text_add(&expected, "<own>\n  ");
        }
        zb__text_parts_borrow(&pieces, lender + 10 * i, sizes[i]);
        zb__text_put(&expected, lender + 10 * i, sizes[i]);
        borrowed += sizes[i] >= 4096;
    }
    ASSERT_OK(zb__text_parts_end(&pieces, &err), err);
    for (size_t i = 0; i < pieces.count; i++) {
        const char *data = pieces.part[i].data;
        found += data >= lender && data < lender + SIZE;
    }
    assert_int_equal(found, borrowed);
    char *text = join(pieces.part, pieces.count, &size);
    char *wanted = zb__text_take(&expected, &expected_size);
    assert_int_equal(size, expected_size);
    assert_int_equal(size, pieces.size);
    assert_memory_equal(text, wanted, size);
    free(text);
    free(wanted);
    zb__text_parts_free(&pieces);
}

static void gives_the_text_in_its_order(void **state) {
    (void)state;
    char *lender = malloc(SIZE);
    assert_non_null(lender);
    for (size_t i = 0; i < SIZE; i++)
        lender[i] = (char)('a' + i * i % 23);
    for (unsigned own = 0; own < 1024; own += 31)
        check_mixture(lender, own);
    free(lender);
}

static void an_empty_text_has_no_parts(void **state) {
    (void)state;
    zb__text_parts pieces = {.count = 0};
    zb_error err;
    ASSERT_OK(zb__text_parts_end(&pieces, &err), err);
    assert_int_equal(pieces.count, 0);
    zb__text_parts_free(&pieces);
}

/* What is borrowed alone does not make a text whole. */
static void a_text_without_memory_is_none(void **state) {
    (void)state;
    static const char lender[5000] = "x";
    zb__text_parts pieces = {.count = 0};
    zb_error err;
    zb__text_parts_borrow(&pieces, lender, sizeof lender);
    zb__text_fail(&pieces.own);
    zb__text_parts_borrow(&pieces, lender, sizeof lender);
    assert_int_equal(zb__text_parts_end(&pieces, &err), ZB_ENOMEM);
    zb__text_parts_free(&pieces);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_text_in_its_order),
        cmocka_unit_test(an_empty_text_has_no_parts),
        cmocka_unit_test(a_text_without_memory_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
