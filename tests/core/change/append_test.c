/* SPDX-License-Identifier: MIT */
/* Appending: each of many programs gets a place of its own, in all arrays that grow together, and
   what cannot be written leaves the arrays as they were. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/fixture.h"
#include "support/wrappers.h"
#include "zarrbridge/change.h"
#include "zarrbridge/read.h"
#include "zarrbridge/write.h"

static const zb_dtype int_type = {.kind = ZB_KIND_INT, .size = 4};

/* An array of [rows] or, with columns, [columns, rows]; chunks of 8 along the rows. */
static zb_node *create(zb_hierarchy *hierarchy, const char *path, uint64_t rows, uint64_t columns) {
    const uint64_t shape[2] = {columns, rows}, inner[2] = {2, 8};
    const uint32_t skip = columns == 0;
    const zb_array_spec spec = {.ndim = 2 - skip,
                                .shape = shape + skip,
                                .inner_shape = inner + skip,
                                .dtype = int_type,
                                .codecs = "[]"};
    zb_error err;
    zb_node *node = NULL;
    ASSERT_OK(zb_array_create(hierarchy, path, &spec, &node, &err), err);
    return node;
}

static zb_append append_of(const zb_node *node, uint32_t dim, const int32_t *data) {
    return (zb_append){.array = node, .dim = dim, .data = data, .dtype = int_type};
}

/* The elements of a new handle; the caller frees them. */
static int32_t *values_of(zb_hierarchy *hierarchy, const char *path, uint64_t *count) {
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_node_open(hierarchy, path, &node, &err), err);
    const zb_array_info *info = zb_node_array(node);
    *count = info->shape[0] * (info->ndim > 1 ? info->shape[1] : 1);
    int32_t *values = malloc(*count * sizeof *values + 1);
    const zb_read read = {.node = node, .view = {.data = values, .dtype = int_type}};
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    zb_node_release(node);
    return values;
}

static void assert_values(zb_hierarchy *hierarchy, const char *path, const int32_t *wanted,
                          size_t count) {
    uint64_t there;
    int32_t *values = values_of(hierarchy, path, &there);
    assert_int_equal(there, count);
    assert_memory_equal(values, wanted, count * sizeof *wanted);
    free(values);
}

/* Both handles keep the nodes that they have opened first. */
static void stale_handles_append_behind_each_other(void **state) {
    const fixture *f = *state;
    zb_error err;
    zb_hierarchy *other;
    uint64_t start;
    zb_node *mine = create(f->hierarchy, "a", 3, 0), *theirs;
    ASSERT_OK(zb_hierarchy_open(f->root, &other, &err), err);
    ASSERT_OK(zb_node_open(other, "a", &theirs, &err), err);
    for (int32_t i = 0; i < 10; i++) {
        const int32_t data[2] = {i, 10 * i};
        const zb_append one = append_of(i % 2 ? mine : theirs, 0, data);
        ASSERT_OK(zb_array_append(&one, 1, 2, NULL, &start, NULL, &err), err);
        assert_int_equal(start, 3 + 2 * i);
    }
    assert_values(f->hierarchy, "a", (int32_t[]){0,  0, 0,  0, 0,  1, 10, 2, 20, 3, 30, 4,
                                                 40, 5, 50, 6, 60, 7, 70, 8, 80, 9, 90},
                  23);
    zb_node_release(theirs);
    zb_node_release(mine);
    zb_hierarchy_release(other);
}

/* Arrays that differ in length, as after a kill, agree again. */
static void arrays_grow_together(void **state) {
    const fixture *f = *state;
    zb_error err;
    uint64_t start;
    zb_node *time = create(f->hierarchy, "time", 2, 0), *data = create(f->hierarchy, "data", 3, 2);
    zb_node *grown[2];
    const int32_t times[2] = {7, 8}, rows[2] = {1, 2};
    const int64_t strides[2] = {0, sizeof *rows};
    zb_append both[2] = {append_of(time, 0, times), append_of(data, 1, rows)};
    both[1].strides = strides;
    ASSERT_OK(zb_array_append(both, 2, 2, NULL, &start, grown, &err), err);
    assert_int_equal(start, 3);
    assert_int_equal(zb_node_array(grown[0])->shape[0], 5);
    assert_int_equal(zb_node_array(grown[1])->shape[1], 5);
    assert_values(f->hierarchy, "time", (int32_t[]){0, 0, 0, 7, 8}, 5);
    assert_values(f->hierarchy, "data", (int32_t[]){0, 0, 0, 1, 2, 0, 0, 0, 1, 2}, 10);
    zb_node_release(grown[0]);
    zb_node_release(grown[1]);
    zb_node_release(time);
    zb_node_release(data);
}

static void what_cannot_be_appended_is_refused(void **state) {
    const fixture *f = *state;
    zb_error err;
    uint64_t start;
    zb_hierarchy *mem;
    zb_node *a = create(f->hierarchy, "a", 3, 0), *b = create(f->hierarchy, "b", 3, 0), *far,
            *group;
    ASSERT_OK(zb_hierarchy_new_mem("mem", &mem, &err), err);
    far = create(mem, "far", 3, 0);
    ASSERT_OK(zb_group_create(f->hierarchy, "g", NULL, &group, &err), err);
    const zb_append twice[2] = {append_of(a, 0, NULL), append_of(a, 0, NULL)};
    const zb_append apart[2] = {append_of(a, 0, NULL), append_of(far, 0, NULL)};
    const zb_append of_group = append_of(group, 0, NULL), of_no_dimension = append_of(a, 1, NULL);
    const zb_append one = append_of(b, 0, NULL);
    ASSERT_FAILS(zb_array_append(twice, 2, 1, NULL, &start, NULL, &err), ZB_EINVAL, err, "twice");
    ASSERT_FAILS(zb_array_append(apart, 2, 1, NULL, &start, NULL, &err), ZB_EINVAL, err, "stores");
    ASSERT_FAILS(zb_array_append(&of_group, 1, 1, NULL, &start, NULL, &err), ZB_EINVAL, err,
                 "group");
    ASSERT_FAILS(zb_array_append(&of_no_dimension, 1, 1, NULL, &start, NULL, &err), ZB_EINVAL, err,
                 "dimension");
    ASSERT_FAILS(zb_array_append(twice, 1, 0, NULL, &start, NULL, &err), ZB_EINVAL, err, "nothing");
    ASSERT_FAILS(zb_array_append(twice, 1, UINT64_MAX, NULL, &start, NULL, &err), ZB_EINVAL, err,
                 "too long");
    zb_append ends = one;
    ends.most = (uint64_t[1]){4};
    ASSERT_FAILS(zb_array_append(&ends, 1, 2, NULL, &start, NULL, &err), ZB_EINVAL, err,
                 "cannot exceed its maximal size (4)");
    ASSERT_OK(zb_node_delete(f->hierarchy, "b", &err), err);
    ASSERT_FAILS(zb_array_append(&one, 1, 1, NULL, &start, NULL, &err), ZB_ECONFLICT, err,
                 "deleted");
    assert_values(f->hierarchy, "a", (int32_t[3]){0}, 3);
    zb_node_release(group);
    zb_node_release(far);
    zb_node_release(a);
    zb_node_release(b);
    zb_hierarchy_release(mem);
}

/* One call of the store fails after the other. Arrays stay as they were, and readable, until an
   append succeeds. */
static void a_failure_takes_the_new_elements_back(void **state) {
    const fixture *f = *state;
    zb_error err;
    uint64_t start;
    enum zb_code code = ZB_EIO;
    zb_node_release(create(f->hierarchy, "time", 2, 0));
    zb_node_release(create(f->hierarchy, "data", 2, 2));
    for (uint64_t nth = 1; code != ZB_OK; nth++) {
        zb_hierarchy *fault;
        zb_node *time, *data;
        const int32_t times[2] = {7, 8}, rows[4] = {1, 2, 3, 4};
        ASSERT_OK(wrap(zb_store_new_fault, f->hierarchy, &fault, &err), err);
        ASSERT_OK(zb_node_open(fault, "time", &time, &err), err);
        ASSERT_OK(zb_node_open(fault, "data", &data, &err), err);
        const zb_append both[2] = {append_of(time, 0, times), append_of(data, 1, rows)};
        zb_store_fault_set(zb_hierarchy_store(fault), nth);
        code = zb_array_append(both, 2, 2, NULL, &start, NULL, &err);
        zb_store_fault_set(zb_hierarchy_store(fault), 0);
        if (code) {
            assert_values(f->hierarchy, "time", (int32_t[2]){0}, 2);
            assert_values(f->hierarchy, "data", (int32_t[4]){0}, 4);
        }
        zb_node_release(time);
        zb_node_release(data);
        zb_hierarchy_release(fault);
    }
    assert_values(f->hierarchy, "time", (int32_t[]){0, 0, 7, 8}, 4);
    assert_values(f->hierarchy, "data", (int32_t[]){0, 0, 1, 2, 0, 0, 3, 4}, 8);
}

/* ---- Many processes ---- */

enum { PROCESSES = 6, APPENDS = 40 };

/* Appends values that no other one has; even ones in one call, odd ones by a kept writer. */
static bool append_all(const char *root, int process) {
    zb_hierarchy *hierarchy;
    zb_node *node, *grown;
    zb_writer *writer;
    zb_error err;
    bool good = zb_hierarchy_open(root, &hierarchy, &err) == ZB_OK &&
                zb_node_open(hierarchy, "a", &node, &err) == ZB_OK &&
                zb_writer_open(node, NULL, &writer, &err) == ZB_OK;
    for (int32_t i = 0; i < APPENDS && good; i++) {
        const int32_t value = process * APPENDS + i + 1;
        uint64_t start;
        const zb_append one = append_of(node, 0, i % 2 ? NULL : &value);
        good = zb_array_append(&one, 1, 1, NULL, &start, &grown, &err) == ZB_OK;
        if (!good)
            break;
        if (!one.data) {
            const uint64_t count = 1;
            const zb_write write = {
                .start = &start, .count = &count, .data = &value, .dtype = int_type};
            good = zb_writer_grow(writer, grown, &err) == ZB_OK &&
                   zb_writer_write(writer, &write, &err) == ZB_OK &&
                   zb_writer_flush(writer, &err) == ZB_OK;
        }
        zb_node_release(grown);
    }
    if (!good)
        fprintf(stderr, "process %d: %s\n", process, err.message);
    return good;
}

static void processes_append_each_value_once(void **state) {
    const fixture *f = *state;
    zb_node_release(create(f->hierarchy, "a", 0, 0));
    for (int process = 0; process < PROCESSES; process++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            _exit(append_all(f->root, process) ? 0 : 1);
    }
    for (int process = 0; process < PROCESSES; process++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    uint64_t count;
    int32_t *values = values_of(f->hierarchy, "a", &count);
    bool seen[PROCESSES * APPENDS + 1] = {false};
    assert_int_equal(count, PROCESSES * APPENDS);
    for (uint64_t i = 0; i < count; i++) {
        assert_in_range(values[i], 1, PROCESSES * APPENDS);
        assert_false(seen[values[i]]);
        seen[values[i]] = true;
    }
    free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(stale_handles_append_behind_each_other),
        FIXTURE_TEST(arrays_grow_together),
        FIXTURE_TEST(what_cannot_be_appended_is_refused),
        FIXTURE_TEST(a_failure_takes_the_new_elements_back),
        FIXTURE_TEST(processes_append_each_value_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
