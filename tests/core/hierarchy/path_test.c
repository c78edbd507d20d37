/* SPDX-License-Identifier: MIT */
/* Which paths name nodes. */
#include "hierarchy/path.h"

#include "support/check.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

static void paths_of_nodes(void **state) {
    (void)state;
    static const char *const good[] = {"",        "a", "a/b/c",    "__x", "zarr.json", "..a",
                                       ".hidden", "c", "\xc3\xa9", "a b", "a\\b"};
    static const char *const bad[][2] = {
        {"/", "empty part"},
        {"/a", "empty part"},
        {"a/", "empty part"},
        {"a//b", "empty part"},
        {".", "dots only"},
        {"..", "dots only"},
        {"a/../b", "dots only"},
        {"a/...", "dots only"},
        {"....", "dots only"},
        {"\xff", "not UTF-8 at byte 0"},
        {"a/\xc3", "not UTF-8 at byte 2"},
    };
    zb_error err;
    for (size_t i = 0; i < COUNT(good); i++)
        assert_int_equal(zb__path_check(good[i], &err), ZB_OK);
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(zb__path_check(bad[i][0], &err), ZB_EINVAL);
        if (!strstr(err.message, bad[i][1]))
            fail_msg("%s: %s", bad[i][0], err.message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_of_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
