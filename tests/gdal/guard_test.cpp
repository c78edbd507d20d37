/* SPDX-License-Identifier: MIT */
/* C++ that the core calls: exceptions become errors, or wait until the core has come back. */
#include "base/guard.h"

#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "cmocka_cpp.h"
#include "zarrbridge/sys/hierarchy.h"

static enum zb_code run_out(zb_hierarchy *, const char *, zb_error *) {
    throw std::bad_alloc();
}

static enum zb_code fail_fetch(zb_hierarchy *, zb_fetch *) {
    throw std::runtime_error("no such luck");
}

static enum zb_code refuse(int number, zb_error *err) {
    return number > 0 ? ZB_OK : zb_fail(err, ZB_EINVAL, "not %d", number);
}

static void fail_to_end(zb_object *) {
    throw std::runtime_error("nobody hears it");
}

static void exceptions_are_errors(void **) {
    zb_error err = {};
    zb_fetch fetch = {};
    assert_int_equal(zarr3::guarded<run_out>(nullptr, "k", &err), ZB_ENOMEM);
    assert_int_equal(err.code, ZB_ENOMEM);
    assert_int_equal(zarr3::guarded<run_out>(nullptr, "k", nullptr), ZB_ENOMEM);
    assert_int_equal(zarr3::guarded<fail_fetch>(nullptr, &fetch), ZB_EIO);
    assert_string_equal(fetch.error.message, "no such luck");
    assert_int_equal(zarr3::guarded<refuse>(1, &err), ZB_OK);
    assert_int_equal(zarr3::guarded<refuse>(0, &err), ZB_EINVAL);
    assert_string_equal(err.message, "not 0");
    zarr3::guarded<fail_to_end>(nullptr);
}

static zb_hierarchy *store_of_three() {
    static const char group[] = "{\"zarr_format\":3,\"node_type\":\"group\"}";
    zb_hierarchy *hierarchy = nullptr;
    assert_int_equal(zb_hierarchy_new_mem("m", &hierarchy, nullptr), ZB_OK);
    for (const char *key : {"zarr.json", "a/zarr.json", "b/zarr.json"})
        assert_int_equal(
            zb_store_mem_set(zb_hierarchy_store(hierarchy), key, group, strlen(group), nullptr),
            ZB_OK);
    return hierarchy;
}

static void a_walk_ends_and_throws_afterwards(void **) {
    zb_hierarchy *hierarchy = store_of_three();
    std::vector<std::string> paths;
    bool thrown = false;
    const auto note = [&](const zb_entry *entry) {
        paths.push_back(entry->path);
        if (paths.size() == 2)
            throw std::bad_alloc();
    };
    try {
        zarr3::each_node(hierarchy, "", note, nullptr);
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    assert_true(thrown);
    assert_int_equal(paths.size(), 2);
    paths.clear();
    const auto note_all = [&](const zb_entry *entry) { paths.push_back(entry->path); };
    assert_int_equal(zarr3::each_node(hierarchy, "", note_all, nullptr), ZB_OK);
    assert_int_equal(paths.size(), 3);
    zb_hierarchy_release(hierarchy);
}

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(exceptions_are_errors),
        cmocka_unit_test(a_walk_ends_and_throws_afterwards),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
