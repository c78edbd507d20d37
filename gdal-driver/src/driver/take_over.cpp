/* SPDX-License-Identifier: MIT */
/*
 * Programs that name the driver ("-of Zarr", driver="Zarr", ZARR:"x.zarr") get GDAL's own. With the
 * configuration option they get this one, unchanged, and it hands version 2 and Kerchunk on.
 *
 * Plugins register before what is built in, and GDAL's own driver stays away where its name is
 * taken. So it is registered here, taken out of the list, and kept by the driver that stands in.
 */
#include "driver/take_over.h"

#include <dlfcn.h>

#include "base/entry.h"
#include "create/create.h"
#include "dataset/gdal_deletions.h"
#include "dataset/open.h"
#include "dataset/own_driver.h"
#include "driver/description.h"
#include "driver/whole_stores.h"
#include "multidim/md_create.h"
#include "store/location.h"

namespace zarr3 {

namespace {

class Zarr3StandIn final : public StandIn {
  public:
    using StandIn::StandIn;

    DeleteCallback GetDeleteCallback() override {
        note_asked_to_delete();
        return StandIn::GetDeleteCallback();
    }
};

/* ZARR:"x.zarr":/array, said with our own prefix. */
class OurName {
  public:
    explicit OurName(const char *name) : name_(name) {
        if (STARTS_WITH_CI(name, "ZARR:"))
            name_.replace(0, strlen("ZARR:"), "ZARR3:");
    }
    const char *get() const {
        return name_.c_str();
    }
    /* True if the name was none of ours before, and leads to a store of version 3. */
    bool claims(const char *name, unsigned flags) const {
        Location location;
        if (name_ == name || !parse_location(get(), &location))
            return false;
        GDALOpenInfo plain(location.directory.c_str(), static_cast<int>(flags));
        return identify(&plain) == TRUE;
    }

  private:
    std::string name_;
};

} // namespace

static int identify_any(GDALOpenInfo *info) {
    if (OurName(info->pszFilename).claims(info->pszFilename, info->nOpenFlags))
        return TRUE;
    const int ours = identify(info);
    if (ours == TRUE || own_driver() == nullptr)
        return ours;
    return own_driver()->pfnIdentify(info);
}

/* What we decline in silence. */
static GDALDataset *open_by_own(GDALOpenInfo *info) {
    GDALDriver *own = own_driver();
    const bool failed = CPLGetLastErrorType() == CE_Failure;
    return failed || own == nullptr ? nullptr : own->GetOpenCallback()(info);
}

static GDALDataset *open_any(GDALOpenInfo *info) {
    CPLErrorReset();
    const OurName name(info->pszFilename);
    if (!name.claims(info->pszFilename, info->nOpenFlags)) {
        GDALDataset *dataset = open_view(info);
        return dataset != nullptr ? dataset : open_by_own(info);
    }
    GDALOpenInfo ours(name.get(), static_cast<int>(info->nOpenFlags));
    ours.papszOpenOptions = info->papszOpenOptions;
    GDALDataset *dataset = open_view(&ours);
    ours.papszOpenOptions = nullptr;
    return dataset;
}

static GDALDataset *create_any(const char *name, int width, int height, int bands,
                               GDALDataType type, OptionList options) {
    if (GDALDriver *own = driver_of_v2(name, options))
        return own->GetCreateCallback()(name, width, height, bands, type, options);
    return create(OurName(name).get(), width, height, bands, type, options);
}

static GDALDataset *copy_any(const char *name, GDALDataset *source, int strict, OptionList options,
                             GDALProgressFunc progress, void *progress_data) {
    if (GDALDriver *own = driver_of_v2(name, options)) {
        const auto copy = own->GetCreateCopyCallback(); /* new in 3.11 */
        return copy != nullptr
                   ? copy(name, source, strict, options, progress, progress_data)
                   : own->DefaultCreateCopy(name, source, strict, options, progress, progress_data);
    }
    return copy_view(OurName(name).get(), source, strict, options, progress, progress_data);
}

/* ---- Whole stores ---- */

/* True if the name leads to something that is for GDAL's own driver. */
static bool is_for_own(const char *name) {
    GDALOpenInfo info(OurName(name).get(), GDAL_OF_RASTER);
    return own_driver() != nullptr && identify(&info) != TRUE;
}

static CPLErr delete_any(const char *name) {
    return is_for_own(name) ? own_driver()->Delete(name) : delete_dataset(OurName(name).get());
}

static CPLErr rename_any(const char *to, const char *from) {
    return is_for_own(from) ? own_driver()->Rename(to, from)
                            : rename_dataset(OurName(to).get(), OurName(from).get());
}

static CPLErr copy_files_any(const char *to, const char *from) {
    return is_for_own(from) ? own_driver()->CopyFiles(to, from)
                            : copy_dataset(OurName(to).get(), OurName(from).get());
}

/* ---- Registration ---- */

/* GDAL's own driver, which is in no list then. Null in a GDAL without it. */
static std::unique_ptr<GDALDriver> step_aside() {
    GDALDriverManager *manager = GetGDALDriverManager();
    if (manager->GetDriverByName("Zarr") == nullptr) {
        using Register = void (*)();
        /* Not called by its name: a GDAL that has it in a plugin does not export it. */
        if (const auto found = reinterpret_cast<Register>(dlsym(RTLD_DEFAULT, "GDALRegister_Zarr")))
            found();
    }
    GDALDriver *own = manager->GetDriverByName("Zarr");
    if (own != nullptr)
        manager->DeregisterDriver(own);
    return std::unique_ptr<GDALDriver>(own);
}

bool take_over() {
    if (!CPLTestBool(CPLGetConfigOption("GDAL_ZARR3_TAKE_OVER", "NO")))
        return false;
    auto driver = std::make_unique<Zarr3StandIn>(step_aside());
    describe_driver(driver.get(), "Zarr", true);
    for (const char *item : {"COMPRESSORS", "BLOSC_COMPRESSORS", "FILTERS"}) {
        if (driver->own() != nullptr && driver->own()->GetMetadataItem(item) != nullptr)
            driver->SetMetadataItem(item, driver->own()->GetMetadataItem(item));
    }
    driver->pfnIdentify = entry<identify_any>;
    driver->pfnOpen = entry<open_any>;
    driver->pfnCreate = entry<create_any>;
    driver->pfnCreateCopy = entry<copy_any>;
    driver->pfnDelete = entry<delete_any>;
    driver->pfnRename = entry<rename_any>;
    driver->pfnCopyFiles = entry<copy_files_any>;
    GetGDALDriverManager()->RegisterDriver(driver.release());
    return true;
}

} // namespace zarr3
