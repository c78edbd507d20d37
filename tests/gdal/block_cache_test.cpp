/* SPDX-License-Identifier: MIT */
/*
 * The driver in many threads, for the thread sanitizer: GDAL's block cache, which all datasets
 * share, writes the blocks of one from the threads of others. Each dataset is used by one thread.
 */
#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gdal_priv.h"

#include "cmocka_cpp.h"

extern "C" void GDALRegister_Zarr3();

static constexpr int kSize = 256, kBlock = 32, kBlocks = kSize / kBlock, kPixels = kBlock * kBlock;
static constexpr char kWritten[] = "/vsimem/threads/written.zarr",
                      kOther[] = "/vsimem/threads/other.zarr";

using Dataset = std::unique_ptr<GDALDataset>;

static unsigned char value_at(int x, int y, int round) {
    return static_cast<unsigned char>(1 + (x * 7 + y * 3 + round) % 255);
}

static Dataset create(const char *name) {
    GDALDriver *driver = GetGDALDriverManager()->GetDriverByName("Zarr3");
    const char *const options[] = {"BLOCKSIZE=32x32", "COMPRESS=NONE", nullptr};
    Dataset made(driver->Create(name, kSize, kSize, 1, GDT_Byte, const_cast<char **>(options)));
    assert_non_null(made.get());
    return made;
}

static Dataset opened(const char *name, unsigned flags) {
    Dataset found(GDALDataset::Open(name, flags));
    assert_non_null(found.get());
    return found;
}

static int set_up(void **) {
    VSIRmdirRecursive("/vsimem/threads");
    VSIMkdir("/vsimem/threads", 0777);
    Dataset other = create(kOther);
    assert_int_equal(other->GetRasterBand(1)->Fill(9), CE_None);
    assert_int_equal(GDALClose(other.release()), CE_None);
    GDALSetCacheMax64(4 * kPixels); /* four blocks of all datasets */
    return 0;
}

/* GDAL hands a block's memory from thread to thread by atomics of its own, which the sanitizer does
   not see. */
[[gnu::no_sanitize("thread")]] static unsigned char pixel_of(GDALRasterBlock *block) {
    return static_cast<volatile unsigned char *>(block->GetDataRef())[5];
}

[[gnu::no_sanitize("thread")]] static void fill(GDALRasterBlock *block, unsigned char value) {
    auto *pixels = static_cast<volatile unsigned char *>(block->GetDataRef());
    for (int i = 0; i < kPixels; i++)
        pixels[i] = value;
}

/* Calls of cmocka belong to the test's own thread. */
static std::atomic<bool> good;

/* The blocks of another dataset push those of the first one out of the cache, and write them. */
static void push_out() {
    Dataset dataset(GDALDataset::Open(kOther, GDAL_OF_RASTER));
    for (int i = 0; dataset != nullptr && i < kBlocks * kBlocks; i++) {
        GDALRasterBlock *block =
            dataset->GetRasterBand(1)->GetLockedBlockRef(i % kBlocks, i / kBlocks, FALSE);
        if (block == nullptr || pixel_of(block) != 9)
            good = false;
        if (block != nullptr)
            block->DropLock();
    }
    if (dataset == nullptr)
        good = false;
}

/* Two threads that push out blocks for as long as the work goes on. */
static void beside(const std::function<void()> &work) {
    std::atomic<bool> ends = false;
    std::vector<std::thread> threads;
    good = true;
    for (int i = 0; i < 2; i++)
        threads.emplace_back([&] {
            do
                push_out();
            while (!ends && good);
        });
    work();
    ends = true;
    for (std::thread &thread : threads)
        thread.join();
    assert_true(good);
}

/* Each block waits in the cache, and is dirty, when it is let go. */
static void dirty_blocks(GDALRasterBand *band, int round) {
    for (int y = 0; y < band->GetYSize() / kBlock; y++) {
        for (int x = 0; x < band->GetXSize() / kBlock; x++) {
            GDALRasterBlock *block = band->GetLockedBlockRef(x, y, TRUE);
            assert_non_null(block);
            block->MarkDirty();
            fill(block, value_at(x, y, round));
            block->DropLock();
        }
    }
}

static void expect_blocks(int round) {
    const Dataset dataset = opened(kWritten, GDAL_OF_RASTER);
    std::vector<unsigned char> pixels(static_cast<size_t>(kSize) * kSize);
    assert_int_equal(dataset->GetRasterBand(1)->RasterIO(GF_Read, 0, 0, kSize, kSize, pixels.data(),
                                                         kSize, kSize, GDT_Byte, 0, 0, nullptr),
                     CE_None);
    for (int y = 0; y < kSize; y++)
        for (int x = 0; x < kSize; x++)
            assert_int_equal(pixels[static_cast<size_t>(y) * kSize + static_cast<size_t>(x)],
                             value_at(x / kBlock, y / kBlock, round));
}

static void blocks_of_a_new_raster_are_written_by_others(void **) {
    beside([] {
        Dataset dataset = create(kWritten);
        dataset->GetRasterBand(1)->SetNoDataValue(255); /* the array is made anew */
        dirty_blocks(dataset->GetRasterBand(1), 0);
        assert_int_equal(GDALClose(dataset.release()), CE_None);
    });
    expect_blocks(0);
}

static void blocks_are_written_by_others_while_properties_change(void **) {
    GDALClose(create(kWritten).release());
    beside([] {
        Dataset dataset = opened(kWritten, GDAL_OF_RASTER | GDAL_OF_UPDATE);
        for (int round = 1; round < 3; round++) {
            dirty_blocks(dataset->GetRasterBand(1), round);
            dataset->SetMetadataItem("round", std::to_string(round).c_str());
            dataset->GetRasterBand(1)->SetStatistics(0, 1, 2, 3);
            assert_int_equal(dataset->FlushCache(false), CE_None);
        }
        dirty_blocks(dataset->GetRasterBand(1), 3);
        assert_int_equal(GDALClose(dataset.release()), CE_None);
    });
    expect_blocks(3);
}

static void levels_are_made_beside_others(void **) {
    Dataset first = create(kWritten);
    dirty_blocks(first->GetRasterBand(1), 4);
    assert_int_equal(GDALClose(first.release()), CE_None);
    beside([] {
        Dataset dataset = opened(kWritten, GDAL_OF_RASTER | GDAL_OF_UPDATE);
        const int factors[] = {2, 4};
        assert_int_equal(
            dataset->BuildOverviews("AVERAGE", 2, factors, 0, nullptr, nullptr, nullptr, nullptr),
            CE_None);
        assert_int_equal(dataset->GetRasterBand(1)->GetOverviewCount(), 2);
        dirty_blocks(dataset->GetRasterBand(1)->GetOverview(0), 5);
        assert_int_equal(GDALClose(dataset.release()), CE_None);
    });
    expect_blocks(4);
}

/* An array of a dataset of its own, of the store that all threads have open. */
static void read_array() {
    const Dataset dataset(GDALDataset::Open(kOther, GDAL_OF_MULTIDIM_RASTER));
    const auto group = dataset == nullptr ? nullptr : dataset->GetRootGroup();
    const auto names = group == nullptr ? std::vector<std::string>() : group->GetMDArrayNames();
    const auto array = group == nullptr ? nullptr : group->OpenMDArray("other");
    std::vector<unsigned char> values(static_cast<size_t>(kSize) * kSize);
    const GUInt64 start[] = {0, 0};
    const size_t count[] = {kSize, kSize};
    const auto type = GDALExtendedDataType::Create(GDT_Byte);
    if (array == nullptr || names.empty() || array->GetSpatialRef() != nullptr ||
        !array->Read(start, count, nullptr, nullptr, type, values.data()) || values[77] != 9)
        good = false;
}

static void arrays_are_read_beside_rasters(void **) {
    std::vector<std::thread> threads;
    beside([&] {
        for (int i = 0; i < 4; i++)
            threads.emplace_back([] {
                for (int round = 0; round < 4; round++)
                    read_array();
            });
        for (std::thread &thread : threads)
            thread.join();
    });
}

int main() {
    GDALRegister_Zarr3();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(blocks_of_a_new_raster_are_written_by_others, set_up),
        cmocka_unit_test_setup(blocks_are_written_by_others_while_properties_change, set_up),
        cmocka_unit_test_setup(levels_are_made_beside_others, set_up),
        cmocka_unit_test_setup(arrays_are_read_beside_rasters, set_up),
    };
    const int failed = cmocka_run_group_tests(tests, nullptr, nullptr);
    VSIRmdirRecursive("/vsimem/threads");
    return failed;
}
