/* SPDX-License-Identifier: MIT */
/*
 * The half of zb-check for broken and hostile stores (bad_stores.py): each must give one of its
 * expected outcomes, within the time and the memory that a bomb may cost.
 *
 * A row is opened, and read whole when it opens. An error must come with a message that names the
 * store; with any outcome, one row may take SECONDS and MEMORY on top of the array's own size. The
 * seconds are the processor's, all threads together: other work of the machine is not counted. The
 * peak of the process (VmHWM) is reset before each row, which Linux does when a 5 is written to
 * /proc/self/clear_refs; where that is refused, and under a sanitizer, which keeps freed memory,
 * the memory is not checked, and a line says so.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "npy.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/read.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define INSTRUMENTED true
#else
#define INSTRUMENTED false
#endif

#define SECONDS 60.0 /* far more than any row needs on a slow machine: a bomb takes hours */
#define MEMORY ((size_t)64 << 20)

typedef struct outcome {
    const char *word; /* as in the manifest's `expect` */
    zb_error err;     /* set when word is a code */
    size_t size;      /* bytes that the array asked for */
} outcome;

/* ---- Measuring ---- */

static double seconds_used(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A line of /proc/self/status in bytes; 0 when it cannot be read. */
static size_t status_bytes(const char *field) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    size_t kib = 0, length = strlen(field);
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, field, length) == 0)
            kib = strtoull(line + length, NULL, 10);
    }
    if (file)
        fclose(file);
    return kib * 1024;
}

static bool reset_peak(void) {
    FILE *file = INSTRUMENTED ? NULL : fopen("/proc/self/clear_refs", "w");
    if (!file)
        return false;
    bool written = fputs("5", file) >= 0;
    return fclose(file) == 0 && written;
}

/* ---- One row ---- */

static bool equals_file(const zb_json *row, const char *folder, const unsigned char *data) {
    char path[4096], why[256];
    npy expected;
    check_path(path, sizeof path, folder, check_member(row, "expected"));
    if (!npy_load(path, &expected, why)) {
        printf("%s\n", why);
        return false;
    }
    bool same = memcmp(data, expected.data, expected.elements * expected.dtype.size) == 0;
    npy_free(&expected);
    return same;
}

static outcome read_array(const zb_json *row, const char *folder, const zb_node *node) {
    outcome result = {.word = "opened"};
    const zb_array_info *info = zb_node_array(node);
    if (!info || strcmp(check_member(row, "stage"), "read") != 0)
        return result;
    result.size = info->dtype.size;
    for (uint32_t d = 0; d < info->ndim; d++)
        result.size *= (size_t)info->shape[d];
    unsigned char *data = malloc(result.size);
    zb_read read = {.node = node, .view = {.data = data, .dtype = info->dtype}};
    enum zb_code code = zb_array_read(&read, 1, &result.err);
    if (code != ZB_OK)
        result.word = zb_code_name(code) + strlen("ZB_");
    else
        result.word = check_member(row, "expected")[0] && equals_file(row, folder, data)
                          ? "values"
                          : "other values";
    free(data);
    return result;
}

/* The names of the children must be those of the row's list `expected`. */
static outcome list_children(const zb_json *row, const zb_node *group) {
    outcome result = {.word = "children"};
    zb_children children;
    enum zb_code code = zb_group_children(group, &children, &result.err);
    if (code != ZB_OK) {
        result.word = zb_code_name(code) + strlen("ZB_");
        return result;
    }
    const zb_json *name = zb_json_first(zb_json_get(row, "expected"));
    for (size_t i = 0; i < children.count; i++, name = name ? zb_json_next(name) : NULL) {
        if (!name || strcmp(zb_json_string(name), children.child[i].name) != 0)
            result.word = "other children";
    }
    if (name)
        result.word = "other children";
    zb_children_free(&children);
    return result;
}

static outcome try_row(const zb_json *row, const char *folder) {
    char path[4096];
    outcome result = {.word = "opened"};
    zb_hierarchy *hierarchy = NULL;
    zb_node *node = NULL;
    check_path(path, sizeof path, folder, check_member(row, "store"));
    enum zb_code code = zb_hierarchy_open(path, &hierarchy, &result.err);
    if (code == ZB_OK)
        code = zb_node_open(hierarchy, check_member(row, "array"), &node, &result.err);
    if (code != ZB_OK)
        result.word = zb_code_name(code) + strlen("ZB_");
    else if (strcmp(check_member(row, "stage"), "list") == 0)
        result = list_children(row, node);
    else
        result = read_array(row, folder, node);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
    return result;
}

/* ---- Judging ---- */

static bool expected_word(const zb_json *row, const char *word) {
    for (const zb_json *e = zb_json_first(zb_json_get(row, "expect")); e; e = zb_json_next(e)) {
        if (strcmp(zb_json_string(e), word) == 0)
            return true;
    }
    return false;
}

/* An error must name the place, and a refused size the limit. */
static bool good_message(const zb_json *row, const outcome *result) {
    const char *text = result->err.message;
    if (result->err.code == ZB_OK)
        return true;
    bool limit = result->err.code != ZB_ELIMIT || strstr(text, "limit") || strstr(text, "allows") ||
                 strstr(text, "2^63");
    return limit && strstr(text, check_member(row, "store")) != NULL;
}

bool check_bad_row(const char *folder, const zb_json *row) {
    static bool told;
    zb_cache_clear();
    size_t before = reset_peak() ? status_bytes("VmRSS:") : 0;
    if (before == 0 && !told) {
        printf("the peak of memory cannot be measured here: memory is not checked\n");
        told = true;
    }
    double start = seconds_used();
    outcome result = try_row(row, folder);
    double took = seconds_used() - start;
    size_t peak = status_bytes("VmHWM:");
    size_t used = before && peak > before ? peak - before : 0;
    bool good = expected_word(row, result.word) && good_message(row, &result) && took <= SECONDS &&
                used <= MEMORY + 2 * result.size;
    if (!good)
        printf("MISMATCH %s/%s (%s): %s, %.2f s, %zu MiB: %s\n", check_member(row, "store"),
               check_member(row, "array"), check_member(row, "why"), result.word, took, used >> 20,
               result.err.message);
    return good;
}
