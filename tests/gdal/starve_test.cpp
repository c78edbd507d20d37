/* SPDX-License-Identifier: MIT */
/*
 * Memory runs out in each allocation of C++ that the core and GDAL bring about by calling the
 * driver. The core is C: an exception in its frames would end this program. Each call has to come
 * back with an error, nothing may be held afterwards, and what the store had is what it has.
 */
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <vector>

#include "base/compat.h"
#include "base/handles.h"
#include "cpl_vsi.h"
#include "gdal_priv.h"
#include "store/open_store.h"
#include "zarrbridge/change.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/hierarchy.h"
#include "zarrbridge/write.h"

#include "cmocka_cpp.h"

using namespace zarr3;

extern "C" void GDALRegister_Zarr3();

/* ---- Allocations that fail ---- */

static std::atomic<bool> starving;
static bool in_use; /* of starve_each; what checks afterwards has memory */
static std::atomic<size_t> asked, denied;
static size_t allowed; /* set while nothing is starving */
static bool only_one;  /* the next one alone fails */

static bool is_denied() {
    if (!starving)
        return false;
    const size_t number = asked++;
    if (number < allowed || (only_one && number > allowed))
        return false;
    denied++;
    return true;
}

/* All forms, because a sanitizer has its own of those that are missing. Not inline, where GCC sees
   free() beside new. */
static void *take(size_t size) {
    return is_denied() ? nullptr : malloc(size > 0 ? size : 1);
}

[[gnu::noinline]] void *operator new(size_t size) {
    void *memory = take(size);
    if (memory == nullptr)
        throw std::bad_alloc();
    return memory;
}

[[gnu::noinline]] void *operator new[](size_t size) {
    return operator new(size);
}

[[gnu::noinline]] void *operator new(size_t size, const std::nothrow_t &) noexcept {
    return take(size);
}

[[gnu::noinline]] void *operator new[](size_t size, const std::nothrow_t &) noexcept {
    return take(size);
}

[[gnu::noinline]] void operator delete(void *memory) noexcept {
    free(memory);
}

[[gnu::noinline]] void operator delete[](void *memory) noexcept {
    free(memory);
}

[[gnu::noinline]] void operator delete(void *memory, size_t) noexcept {
    free(memory);
}

[[gnu::noinline]] void operator delete[](void *memory, size_t) noexcept {
    free(memory);
}

/* While one of these lives. What the test itself does is not starved. */
struct Starve {
    Starve() {
        starving = in_use;
    }
    ~Starve() {
        starving = false;
    }
};

/* Calls use(), which starves itself: once for each of its allocations, which fails alone, and for
   some of them with all that follow. At last all succeed. use() is true when it was done.
   check(done) comes after each. */
static void starve_each(const std::function<bool()> &use, const std::function<void(bool)> &check) {
    for (const bool one : {false, true}) {
        only_one = one;
        for (allowed = 0;; allowed += one ? 1 : 7) {
            asked = denied = 0;
            in_use = true;
            const bool done = use();
            in_use = false;
            check(done);
            if (denied == 0) {
                assert_true(done);
                assert_true(allowed > 3);
                break;
            }
        }
    }
}

/* ---- A store behind GDAL's files ---- */

static constexpr zb_dtype kInt16 = {ZB_KIND_INT, 2, false, nullptr};
static constexpr uint64_t kShape[] = {4, 4}, kChunk[] = {2, 2}, kStart[] = {0, 0};
static constexpr int64_t kStrides[] = {8, 2};

static zb_array_spec array_spec() {
    zb_array_spec spec = {};
    spec.ndim = 2;
    spec.shape = kShape;
    spec.inner_shape = kChunk;
    spec.dtype = kInt16;
    spec.codecs = "[]";
    spec.separator = '/';
    return spec;
}

static HierarchyPtr opened(const char *root, bool create) {
    Hierarchy hierarchy;
    assert_int_equal(open_store(root, &hierarchy, nullptr, create), ZB_OK);
    return hierarchy.store;
}

static enum zb_code write_all(zb_node *node, int16_t value, zb_error *err) {
    zb_writer *writer = nullptr;
    const std::vector<int16_t> data(16, value);
    zb_write write = {};
    write.start = kStart;
    write.count = kShape;
    write.data = data.data();
    write.dtype = kInt16;
    write.strides = kStrides;
    const zb_write_options options = {};
    const Starve starve;
    enum zb_code code = zb_writer_open(node, &options, &writer, err);
    if (code != ZB_OK)
        return code;
    code = zb_writer_write(writer, &write, err);
    if (code == ZB_OK)
        code = zb_writer_flush(writer, err);
    zb_writer_abandon(writer);
    return code;
}

static enum zb_code read_all(zb_node *node, int16_t *values, zb_error *err) {
    const Starve starve;
    zb_read read = {};
    read.node = node;
    read.start = kStart;
    read.count = kShape;
    read.view = {values, kInt16, kStrides, nullptr};
    return zb_array_read(&read, 1, err);
}

/* All elements, which are one value; each chunk has the one or the other. */
static void expect_values(const char *root, int16_t one, int16_t other) {
    const HierarchyPtr store = opened(root, false);
    const NodePtr node = open_node(store.get(), "a", nullptr);
    int16_t values[16];
    assert_non_null(node.get());
    assert_int_equal(read_all(node.get(), values, nullptr), ZB_OK);
    for (const int16_t value : values)
        assert_true(value == one || value == other);
}

static void make_store(const char *root, int16_t value) {
    zb_node *node = nullptr;
    const HierarchyPtr store = opened(root, true);
    const zb_array_spec spec = array_spec();
    assert_int_equal(zb_group_create(store.get(), "", nullptr, &node, nullptr), ZB_OK);
    zb_node_release(node);
    assert_int_equal(zb_array_create(store.get(), "a", &spec, &node, nullptr), ZB_OK);
    const NodePtr owner = adopt_node(node);
    assert_int_equal(write_all(node, value, nullptr), ZB_OK);
    assert_int_equal(zb_hierarchy_commit(store.get(), nullptr), ZB_OK);
}

static NodePtr open_starved(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    zb_node *node = nullptr;
    enum zb_code code;
    {
        const Starve starve;
        code = zb_node_open(hierarchy, path, &node, err);
    }
    return code == ZB_OK ? adopt_node(node) : nullptr;
}

static bool list_starved(zb_node *group, size_t count, zb_error *err) {
    zb_children list = {};
    enum zb_code code;
    {
        const Starve starve;
        code = zb_group_children(group, &list, err);
    }
    assert_true(code != ZB_OK || list.count == count);
    zb_children_free(&list);
    return code == ZB_OK;
}

/* Reads in a fresh session, so that nothing is known. */
static bool read_starved(const char *root, int16_t value) {
    zb_error err = {};
    const HierarchyPtr store = opened(root, false);
    const NodePtr group = open_starved(store.get(), "", &err);
    if (group == nullptr || !list_starved(group.get(), 1, &err))
        return false;
    const NodePtr node = open_starved(store.get(), "a", &err);
    int16_t values[16] = {};
    if (node == nullptr || read_all(node.get(), values, &err) != ZB_OK)
        return false;
    for (const int16_t one : values)
        assert_int_equal(one, value);
    return true;
}

static void reads_come_back(void **) {
    make_store("/vsimem/starve/x.zarr", 7);
    make_store("/vsimem/starve/x.zarr.zip", 7);
    for (const char *root : {"/vsimem/starve/x.zarr", "/vsimem/starve/x.zarr.zip",
                             "/vsizip//vsimem/starve/x.zarr.zip"})
        starve_each([&] { return read_starved(root, 7); },
                    [&](bool) { expect_values(root, 7, 7); });
}

static bool change_starved(const char *root, int16_t value) {
    zb_error err = {};
    const HierarchyPtr store = opened(root, false);
    const NodePtr node = open_node(store.get(), "a", nullptr);
    if (write_all(node.get(), value, &err) != ZB_OK)
        return false;
    const zb_attribute_edit edit = {"n", "1", false, nullptr};
    zb_node *changed = nullptr;
    const zb_array_spec spec = array_spec();
    const Starve starve;
    enum zb_code code = zb_node_set_attributes(node.get(), &edit, 1, &changed, &err);
    zb_node_release(changed);
    changed = nullptr;
    if (code == ZB_OK)
        code = zb_array_create(store.get(), "b", &spec, &changed, &err);
    zb_node_release(changed);
    if (code == ZB_OK)
        code = zb_node_delete(store.get(), "b", &err);
    return code == ZB_OK && zb_hierarchy_write_back(store.get(), &err) == ZB_OK;
}

/* No lock is held afterwards: the next round would wait for it, and fail. */
static void writes_come_back(void **) {
    const char *root = "/vsimem/starve/y.zarr";
    make_store(root, 1);
    int16_t value = 1;
    starve_each(
        [&] {
            value = static_cast<int16_t>(value % 100 + 1);
            return change_starved(root, value);
        },
        [&](bool done) {
            if (done)
                expect_values(root, value, value);
            /* GDAL's files in memory lose one that is renamed when memory runs out, and this store
               may have lost a document or a chunk then. The next one is another. */
            VSIRmdirRecursive(root);
            make_store(root, value);
        });
}

static void new_archives_come_back(void **) {
    const char *root = "/vsimem/starve/z.zarr.zip";
    CPLErrorHandlerPusher quiet(CPLQuietErrorHandler);
    starve_each(
        [&] {
            zb_node *node = nullptr;
            const HierarchyPtr store = opened(root, true);
            assert_int_equal(zb_group_create(store.get(), "", nullptr, &node, nullptr), ZB_OK);
            zb_node_release(node);
            const Starve starve;
            return zb_hierarchy_commit(store.get(), nullptr) == ZB_OK;
        },
        [&](bool done) {
            /* Also after a failure, for the end of the session has tried again. */
            const HierarchyPtr store = opened(root, false);
            assert_true(!done || open_node(store.get(), "", nullptr) != nullptr);
            VSIUnlink(root);
        });
}

/* ---- The driver behind GDAL ---- */

static bool raster_starved(GDALDriver *driver, const char *name) {
    GDALOpenInfo info(name, GDAL_OF_RASTER | GDAL_OF_UPDATE);
    GDALDataset *dataset;
    {
        const Starve starve;
        dataset = driver->pfnOpen(&info);
    }
    if (dataset == nullptr)
        return false;
    int16_t values[16] = {};
    GDALRasterBand *band = dataset->GetRasterBand(1);
    /* GDAL's own state for reads and writes is there then. */
    bool good =
        band->RasterIO(GF_Read, 0, 0, 4, 4, values, 4, 4, GDT_Int16, 0, 0, nullptr) == CE_None &&
        band->RasterIO(GF_Write, 0, 0, 4, 4, values, 4, 4, GDT_Int16, 0, 0, nullptr) == CE_None;
    assert_true(good);
    {
        const Starve starve;
        good = band->RasterIO(GF_Read, 0, 0, 4, 4, values, 4, 4, GDT_Int16, 0, 0, nullptr) ==
                   CE_None &&
               band->ReadBlock(0, 0, values) == CE_None &&
               band->RasterIO(GF_Write, 0, 0, 4, 4, values, 4, 4, GDT_Int16, 0, 0, nullptr) ==
                   CE_None &&
               band->WriteBlock(0, 0, values) == CE_None && dataset->FlushCache(false) == CE_None;
    }
    return GDALClose(GDALDataset::ToHandle(dataset)) == CE_None && good;
}

static void rasters_come_back(void **) {
    const char *name = "/vsimem/starve/raster.zarr";
    CPLErrorHandlerPusher quiet(CPLQuietErrorHandler);
    GDALDriver *driver = GetGDALDriverManager()->GetDriverByName("Zarr3");
    make_store(name, 3);
    starve_each([&] { return raster_starved(driver, name); },
                [&](bool done) {
                    if (done)
                        expect_values(name, 3, 3);
                    VSIRmdirRecursive(name); /* as above */
                    make_store(name, 3);
                });
}

/* GDAL's own part of reading and writing allocates as well, and is left out. */
static bool multidim_starved(GDALDriver *driver, const char *name) {
    GDALOpenInfo info(name, GDAL_OF_MULTIDIM_RASTER | GDAL_OF_UPDATE);
    const std::string array_name = "a", group_name = "g", unit = "m";
    GDALDataset *dataset;
    bool good = false;
    {
        const Starve starve;
        dataset = driver->pfnOpen(&info);
    }
    if (dataset == nullptr)
        return false;
    {
        const std::shared_ptr<GDALGroup> root = dataset->GetRootGroup();
        const Starve starve;
        const auto array = root->OpenMDArray(array_name, nullptr);
        good = root->GetMDArrayNames(nullptr).size() == 1 && array != nullptr &&
               array->SetUnit(unit) && array->GetAttributes(nullptr).empty() &&
               root->CreateGroup(group_name, nullptr) != nullptr &&
               root->GetGroupNames(nullptr).size() == 1 && root->DeleteGroup(group_name, nullptr) &&
               dataset->FlushCache(false) == CE_None;
    }
    return GDALClose(GDALDataset::ToHandle(dataset)) == CE_None && good;
}

static void multidimensional_views_come_back(void **) {
    const char *name = "/vsimem/starve/multidim.zarr";
    CPLErrorHandlerPusher quiet(CPLQuietErrorHandler);
    GDALDriver *driver = GetGDALDriverManager()->GetDriverByName("Zarr3");
    make_store(name, 3);
    starve_each([&] { return multidim_starved(driver, name); },
                [&](bool) {
                    VSIRmdirRecursive(name); /* as above */
                    make_store(name, 3);
                });
}

int main() {
    setenv("ZARRBRIDGE_LOCK_SECONDS", "5", 1); /* a lock that was left behind fails the test */
    GDALAllRegister();
    GDALRegister_Zarr3();
    const CMUnitTest tests[] = {
        cmocka_unit_test(reads_come_back),
        cmocka_unit_test(writes_come_back),
        cmocka_unit_test(new_archives_come_back),
        cmocka_unit_test(rasters_come_back),
        cmocka_unit_test(multidimensional_views_come_back),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
