/* SPDX-License-Identifier: MIT */
/* A raster that cannot take the place of another one: where both are is told. */
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "cpl_error.h"
#include "cpl_vsi.h"
#include "gdal_priv.h"

#include "cmocka_cpp.h"

extern "C" void GDALRegister_Zarr3();

/* ---- Renames that fail -------------------------------------------------------------------- */

static std::string barred; /* nothing is renamed to this name */

extern "C" {
int __real_rename(const char *from, const char *to);

int __wrap_rename(const char *from, const char *to) {
    if (barred != to)
        return __real_rename(from, to);
    errno = EIO;
    return -1;
}

/* As on a file system that cannot exchange names. */
int __wrap_renameat2(int, const char *, int, const char *, unsigned) {
    errno = EINVAL;
    return -1;
}
}

/* ---- The test ----------------------------------------------------------------------------- */

static bool copy_to(const std::string &path, double value) {
    GDALDriver *memory = GetGDALDriverManager()->GetDriverByName("MEM");
    GDALDriver *zarr = GetGDALDriverManager()->GetDriverByName("Zarr3");
    GDALDataset *source = memory->Create("", 20, 10, 1, GDT_Byte, nullptr);
    source->GetRasterBand(1)->Fill(value);
    GDALDataset *made = zarr->CreateCopy(path.c_str(), source, FALSE, nullptr, nullptr, nullptr);
    const bool good = made != nullptr && GDALClose(made) == CE_None;
    GDALClose(source);
    return good;
}

static std::string quoted_after(const std::string &text, const std::string &before) {
    const size_t at = text.find(before);
    assert_true(at != std::string::npos);
    const size_t begin = at + before.size();
    return text.substr(begin, text.find('\'', begin) - begin);
}

static void the_old_store_is_told_of(void **) {
    char folder[] = "/tmp/zb-replace-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const std::string path = std::string(folder) + "/x.zarr";
    struct stat found;
    assert_true(copy_to(path, 1));
    barred = path;
    CPLPushErrorHandler(CPLQuietErrorHandler);
    CPLErrorReset();
    const bool replaced = copy_to(path, 2);
    const std::string said = CPLGetLastErrorMsg();
    CPLPopErrorHandler();
    assert_false(replaced);
    assert_non_null(strstr(said.c_str(), "cannot take the place of"));
    assert_non_null(strstr(said.c_str(), strerror(EIO)));
    assert_int_not_equal(stat(path.c_str(), &found), 0);
    const std::string away = quoted_after(said, "the old store is at '");
    assert_int_equal(stat((away + "/zarr.json").c_str(), &found), 0);
    VSIRmdirRecursive(folder);
}

static void a_store_that_is_renamed_back_stays(void **) {
    char folder[] = "/tmp/zb-replace-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const std::string path = std::string(folder) + "/x.zarr";
    barred.clear();
    assert_true(copy_to(path, 1));
    assert_true(copy_to(path, 2));
    struct stat found;
    assert_int_equal(stat((path + "/zarr.json").c_str(), &found), 0);
    VSIRmdirRecursive(folder);
}

int main() {
    GDALRegister_MEM();
    GDALRegister_Zarr3();
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_old_store_is_told_of),
                                       cmocka_unit_test(a_store_that_is_renamed_back_stays)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
