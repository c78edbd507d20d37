/* SPDX-License-Identifier: MIT */
/*
 * The steps by which GDAL deletes. The driver tells GDAL's own deletions, which clear the way for a
 * new raster, from those of programs by these steps alone (dataset/gdal_deletions.h). A GDAL that
 * takes others fails here, before it loses a store.
 */
#include "dataset/gdal_deletions.h"

#include <cstring>
#include <string>

#include "base/compat.h"
#include "cpl_vsi.h"
#include "gdal_priv.h"

#include "cmocka_cpp.h"

static constexpr char kName[] = "/vsimem/deletions_test.steps";

/* I: identified. A: asked for the function that deletes. c: a deletion that the driver takes for
   one that clears the way; d: any other. */
static std::string steps;

namespace {

/* It takes part in deletions as this project's driver does, and all its names are kName. */
class StepsDriver final : public GDALDriver {
  public:
    StepsDriver() {
        SetDescription("Steps");
        SetMetadataItem(GDAL_DCAP_RASTER, "YES");
        SetMetadataItem(GDAL_DMD_CREATIONDATATYPES, "Byte");
        pfnIdentify = identify;
        pfnCreate = create;
        pfnCreateCopy = create_copy;
        pfnDelete = remove;
    }

    DeleteCallback GetDeleteCallback() override {
        steps += "A";
        zarr3::note_asked_to_delete();
        return remove;
    }

  private:
    static int identify(GDALOpenInfo *info) {
        if (strcmp(info->pszFilename, kName) != 0)
            return FALSE;
        steps += "I";
        zarr3::note_identified(info->pszFilename);
        return TRUE;
    }
    static GDALDataset *create(const char *, int, int, int, GDALDataType, zarr3::OptionList) {
        return nullptr;
    }
    static GDALDataset *create_copy(const char *, GDALDataset *, int, zarr3::OptionList,
                                    GDALProgressFunc, void *) {
        return nullptr;
    }
    static CPLErr remove(const char *name) {
        steps += zarr3::clears_the_way(name) ? "c" : "d";
        return CE_None;
    }
};

StepsDriver *driver;

} // namespace

/* A file that is there, as of a format of one file: GDAL 3.10 spares directories. */
static int set_up(void **) {
    if (driver == nullptr) {
        driver = new StepsDriver;
        GetGDALDriverManager()->RegisterDriver(driver);
    }
    VSIFCloseL(VSIFOpenL(kName, "wb"));
    steps.clear();
    return 0;
}

/* The loud part: says what to look at when a version of GDAL goes another way. */
static void expect(const char *expected, const char *call) {
    if (steps != expected)
        fail_msg("GDAL %s takes the steps %s in %s, not %s: gdal_deletions.cpp, which counts them, "
                 "has to follow, or else stores are lost or cannot be deleted",
                 GDALVersionInfo("RELEASE_NAME"), steps.c_str(), call, expected);
}

static void creations_are_told_by_their_steps(void **) {
    assert_null(driver->Create(kName, 1, 1, 1, GDT_Byte, nullptr));
    expect("IAAc", "Create()");
}

static void copies_are_told_by_their_steps(void **) {
    GDALDriver *memory = GetGDALDriverManager()->GetDriverByName("MEM");
    GDALDatasetUniquePtr source(memory->Create("", 1, 1, 1, GDT_Byte, nullptr));
    assert_null(
        driver->CreateCopy(kName, source.get(), FALSE, nullptr, GDALDummyProgress, nullptr));
    expect("IAAc", "CreateCopy()");
}

static void deletions_of_programs_are_told_by_their_steps(void **) {
    assert_int_equal(driver->Delete(kName), CE_None);
    expect("Ad", "Delete()");
    steps.clear();
    assert_int_equal(GDALDeleteDataset(nullptr, kName), CE_None);
    expect("IAd", "GDALDeleteDataset()");
}

int main() {
    GDALAllRegister();
    const CMUnitTest tests[] = {
        cmocka_unit_test_setup(creations_are_told_by_their_steps, set_up),
        cmocka_unit_test_setup(copies_are_told_by_their_steps, set_up),
        cmocka_unit_test_setup(deletions_of_programs_are_told_by_their_steps, set_up),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
