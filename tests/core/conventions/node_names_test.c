/* SPDX-License-Identifier: MIT */
/* Names that a Zarr node cannot have, and the forms in which they are stored. */
#include "support/check.h"

#include "zarrbridge/conventions.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *stored;
    bool needs_form;
} rows[] = {
    {"a", "a", false},           {".hidden", ".hidden", false}, {"100%", "100%", false},
    {"..", "%2E.", true},        {"...", "%2E..", true},        {"__x", "%5F_x", true},
    {"a\\b", "a%5Cb", true},     {"a\\b%", "a%5Cb%25", true},   {"\t", "%09", true},
    {"%5F_x", "%255F_x", false}, {"%2e.", "%2e.", false},       {"zarr.json", "%7Aarr.json", true},
};

static void forms_lead_back(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *stored = zb_name_stored(rows[i].name), *shown = zb_name_shown(rows[i].stored);
        assert_string_equal(stored, rows[i].stored);
        assert_string_equal(shown, rows[i].name);
        assert_int_equal(zb_name_needs_form(rows[i].name), rows[i].needs_form);
        assert_int_equal(zb_name_has_form(rows[i].name), strcmp(stored, rows[i].name) != 0);
        assert_int_equal(zb_name_is_plain(stored), !strchr(stored, '%'));
        free(stored);
        free(shown);
    }
}

static void others_are_shown_as_they_are(void **state) {
    static const char *const names[] = {"%", "%5", "%5f_x", "%00", "%41", "a%5cb", "%25"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *shown = zb_name_shown(names[i]);
        assert_string_equal(shown, names[i]);
        free(shown);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms_lead_back),
                                       cmocka_unit_test(others_are_shown_as_they_are)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
