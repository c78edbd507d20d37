/* SPDX-License-Identifier: MIT */
/*
 * Every row of the table of limits: its default, and its environment variable. The table is read
 * once per process, so each case runs in a child process with its variable set; this process itself
 * never asks for the limits before.
 */
#include <inttypes.h>
#include <sys/resource.h>

#include "support/check.h"
#include "util/machine.h"
#include "zarrbridge/limits.h"

#define MIB (UINT64_C(1) << 20)

static const struct {
    const char *name, *variable;
    uint64_t value;
    size_t offset;
    uint64_t share; /* of memory that the default may be at most; 0: all */
} table[] = {
#define ROW(field, variable, value) SHARE(field, variable, value, 0)
#define SHARE(field, variable, value, share)                                                       \
    {#field, "ZARRBRIDGE_" variable, value, offsetof(zb_limits, field), share}
    ROW(json_depth, "JSON_DEPTH", 32),
    ROW(json_values, "JSON_VALUES", 4000000),
    ROW(document_bytes, "DOCUMENT_BYTES", 16 * MIB),
    ROW(attribute_bytes, "ATTRIBUTE_BYTES", 1 * MIB), /* the connector's; tested with it */
    ROW(consolidated_bytes, "CONSOLIDATED_BYTES", 128 * MIB),
    ROW(children, "CHILDREN", 1000000),
    ROW(nodes, "NODES", 10000000),         /* the connector's; tested with it */
    ROW(open_nodes, "OPEN_NODES", 100000), /* the same */
    ROW(links, "LINKS", 10000),
    ROW(chunk_bytes, "CHUNK_BYTES", 1024 * MIB),
    ROW(shard_bytes, "SHARD_BYTES", 4096 * MIB),
    ROW(index_bytes, "INDEX_BYTES", 64 * MIB),
    ROW(shard_depth, "SHARD_DEPTH", 4),
    ROW(codecs, "CODECS", 16),
    ROW(fields, "FIELDS", 1024),
    ROW(gzip_members, "GZIP_MEMBERS", 1024),
    SHARE(cache_bytes, "CACHE_BYTES", 64 * MIB, 32),
    SHARE(index_cache_bytes, "INDEX_CACHE_BYTES", 16 * MIB, 128),
    SHARE(write_cache_bytes, "WRITE_CACHE_BYTES", 256 * MIB, 8),
    ROW(lock_seconds, "LOCK_SECONDS", 60),
    /* These are tested with stores on the network. */
    ROW(remote_requests, "REMOTE_REQUESTS", 64),
    ROW(remote_flight_bytes, "REMOTE_FLIGHT_BYTES", 128 * MIB),
    ROW(remote_window_bytes, "REMOTE_WINDOW_BYTES", 256 * MIB),
    ROW(remote_part_bytes, "REMOTE_PART_BYTES", 2 * MIB),
    ROW(remote_put_bytes, "REMOTE_PUT_BYTES", 16 * MIB),
    ROW(remote_fresh_seconds, "REMOTE_FRESH_SECONDS", 10),
    ROW(remote_tries, "REMOTE_TRIES", 6),
    ROW(remote_seconds, "REMOTE_SECONDS", 60),
    ROW(remote_connect_seconds, "REMOTE_CONNECT_SECONDS", 5),
    ROW(remote_stall_seconds, "REMOTE_STALL_SECONDS", 20),
    ROW(threads, "NUM_THREADS", 0),
#undef SHARE
#undef ROW
};
#define ROWS (sizeof table / sizeof *table)

/* The default on this machine. */
static uint64_t default_of(size_t row) {
    uint64_t most = table[row].share ? zb__machine_memory() / table[row].share : UINT64_MAX;
    return table[row].value < most ? table[row].value : most;
}

static uint64_t value_of(size_t row) {
    uint64_t value;
    memcpy(&value, (const char *)zb_limits_get() + table[row].offset, sizeof value);
    return value;
}

static void check_defaults(void *unused) {
    (void)unused;
    zb_limit_row row;
    CHILD_CHECK(ROWS * sizeof(uint64_t) == sizeof(zb_limits), "a field without a row here");
    CHILD_CHECK(!zb_limit_describe(ROWS, &row) && !zb_limit_describe(SIZE_MAX, &row), "a row more");
    for (size_t i = 0; i < ROWS; i++) {
        CHILD_CHECK(zb_limit_describe(i, &row), "row %zu", i);
        CHILD_CHECK(strcmp(row.name, table[i].name) == 0, "%s", row.name);
        CHILD_CHECK(strcmp(row.variable, table[i].variable) == 0, "%s", row.variable);
        CHILD_CHECK(strlen(row.meaning) > 10, "%s", row.meaning);
        CHILD_CHECK(row.default_value == default_of(i), "%s %" PRIu64, row.name, row.default_value);
        CHILD_CHECK(row.value == row.default_value && value_of(i) == row.value, "%s", row.name);
    }
}

static void defaults(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        unsetenv(table[i].variable);
    assert_true(check_in_child(check_defaults, NULL, NULL, NULL));
}

/* A process that may have little memory keeps little; a size that its environment asks for is taken
   as it is. */
static void check_small_defaults(void *context) {
    const uint64_t *memory = context;
    struct rlimit limit = {.rlim_cur = *memory, .rlim_max = RLIM_INFINITY};
    CHILD_CHECK(setrlimit(RLIMIT_AS, &limit) == 0, "no limit");
    for (size_t i = 0; i < ROWS; i++) {
        uint64_t most = table[i].share ? *memory / table[i].share : UINT64_MAX;
        zb_limit_row row;
        CHILD_CHECK(zb_limit_describe(i, &row), "row %zu", i);
        CHILD_CHECK(row.default_value <= most, "%s %" PRIu64, row.name, row.default_value);
        if (strcmp(row.name, "write_cache_bytes") == 0)
            CHILD_CHECK(row.value == 256 * MIB, "%" PRIu64, row.value);
        else
            CHILD_CHECK(row.value == row.default_value, "%s %" PRIu64, row.name, row.value);
    }
}

static void small_machines_have_small_defaults(void **state) {
    (void)state;
    if (CHECK_SANITIZED_MALLOC) {
        print_message("not with a sanitizer, whose shadow is larger than any such bound\n");
        skip();
    }
    uint64_t memory = 320 * MIB;
    assert_true(
        check_in_child(check_small_defaults, &memory, "ZARRBRIDGE_WRITE_CACHE_BYTES", "268435456"));
}

typedef struct variable_case {
    size_t row;
    uint64_t expected;
    bool is_ignored;
} variable_case;

static void check_variable(void *context) {
    const variable_case *c = context;
    zb_limit_row row;
    for (size_t i = 0; i < ROWS; i++) {
        uint64_t expected = i == c->row ? c->expected : default_of(i);
        CHILD_CHECK(value_of(i) == expected, "%s is %" PRIu64, table[i].name, value_of(i));
        CHILD_CHECK(zb_limit_describe(i, &row) && row.is_ignored == (c->is_ignored && i == c->row),
                    "%s", table[i].name);
        CHILD_CHECK(zb_limit_describe(i, &row) && row.value == expected, "%s", table[i].name);
        CHILD_CHECK(row.default_value == default_of(i), "%s", table[i].name);
    }
}

/* A text that is not a plain decimal number changes nothing: the default is the safe choice. */
static void variables_are_honoured(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        variable_case c = {.row = i, .expected = 12345 + i};
        char text[24];
        snprintf(text, sizeof text, "%" PRIu64, c.expected);
        assert_true(check_in_child(check_variable, &c, table[i].variable, text));
    }
    static const char *const wrong[] = {
        "", " 5", "-1", "+5", "5k", "0x10", "1e3", "inf ", "18446744073709551616"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        variable_case c = {.row = i, .expected = default_of(i), .is_ignored = *wrong[i]};
        assert_true(check_in_child(check_variable, &c, table[i].variable, wrong[i]));
    }
    variable_case largest = {.row = 5, .expected = UINT64_MAX};
    assert_true(
        check_in_child(check_variable, &largest, table[5].variable, "18446744073709551615"));
    variable_case infinite = {.row = 5, .expected = INT64_MAX};
    assert_true(check_in_child(check_variable, &infinite, table[5].variable, "inf"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(small_machines_have_small_defaults),
        cmocka_unit_test(variables_are_honoured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
