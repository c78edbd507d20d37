/* SPDX-License-Identifier: MIT */
/* Names that a program could not open: those of which something is known, and those that are left
   to others. */
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"
#include "zarrbridge/conventions.h"

static const struct {
    const char *name;  /* in the folder of the test */
    const char *file;  /* that is made in it, or the name itself where it is ""; NULL: nothing is */
    const char *text;  /* of that file */
    const char *words; /* of the message; NULL: nothing is said */
} rows[] = {
    {"empty.zarr", "/", "", "the directory is empty"},
    {"EMPTY.ZARR", "/", "", "EMPTY.ZARR/zarr.json"},
    {"files.zarr/", "/notes", "x", "its zarr.json would be"},
    {"plain", "/notes", "x", NULL},
    {"ice", "/snapshots/a", "x", NULL}, /* a sign alone */
    {"n5", "/attributes.json", "{\"n5\": \"2.0.0\"}", "this is N5"},
    {"table", "/.zmetadata", "{\"record_size\": 1}", "kerchunk reference directory"},
    {"store.zarr", "/zarr.json", "{\"zarr_format\": 3, \"node_type\": \"group\"}", NULL},
    {"k.json", "", "{\"version\": 1, \"refs\": {}}", "kerchunk reference file"},
    {"k.JSON", "", " {\".zgroup\": {}}", "kerchunk reference file"},
    {"other.json", "", "{\"a\": 1}", NULL},
    {"notes.zarr", "", "x", NULL},
    {"missing.zarr", NULL, NULL, NULL},
    {"missing", NULL, NULL, NULL},
    {"~/x.zarr", NULL, NULL, "only a shell knows ~"},
    {"~/x.h5", NULL, NULL, NULL},
    {"file:///d/x.zarr", NULL, NULL, "write '/d/x.zarr'"},
    {"file://localhost/d/x.zarr", NULL, NULL, "write '/d/x.zarr'"},
    {"FILE:///d/x.zarr/", NULL, NULL, "write '/d/x.zarr/'"},
    {"file:///d/x.h5", NULL, NULL, NULL},
    {"zarr:file:///d/x", NULL, NULL, "write '/d/x'"},
    {"zarr:x", NULL, NULL, "write 'x'"},
    {"gs://b/x.zarr", NULL, NULL, "of a kind that is not read here"},
    {"gs://b/x.h5", NULL, NULL, NULL},
    {"https://h/x.zarr", NULL, NULL, NULL},
};

static void make(const char *name, const char *file, const char *text) {
    char path[300];
    snprintf(path, sizeof path, "%s%s", name, file);
    for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0777);
        *slash = '/';
    }
    if (path[strlen(path) - 1] == '/')
        return;
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void test_rows(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_error err = {.code = ZB_ELIMIT, .message = "as it was"};
        if (rows[i].file)
            make(rows[i].name, rows[i].file, rows[i].text);
        const bool known = zb_name_explain(rows[i].name, &err);
        if (known != (rows[i].words != NULL) || !strstr(err.message, known ? rows[i].words : "was"))
            fail_msg("%s: %s", rows[i].name, err.message);
        assert_int_equal(zb_name_explain(rows[i].name, NULL), known);
        assert_int_equal(err.code == ZB_ELIMIT, !known);
    }
}

static void test_names_of_stores(void **state) {
    (void)state;
    assert_true(zb_name_is_zarr("d/x.zarr") && zb_name_is_zarr("x.Zarr//"));
    assert_true(zb_name_is_zarr("https://h/x.zarr?sig=1"));
    assert_false(zb_name_is_zarr("x.zarr/a") || zb_name_is_zarr("zarr") || zb_name_is_zarr(""));
    assert_false(zb_name_is_zarr("https://h/x?sig=.zarr"));
}

static char folder[] = "/tmp/zb-test-explain-XXXXXX";

static int enter(void **state) {
    (void)state;
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int leave(void **state) {
    char command[80];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return chdir("/") || system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_names_of_stores),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
