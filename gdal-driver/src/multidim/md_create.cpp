/* SPDX-License-Identifier: MIT */
/*
 * GDAL's programs choose a driver by the suffix ".zarr", and that is this one, also where a user
 * asks for Zarr version 2 by FORMAT=ZARR_V2. That is left to GDAL's own driver, which took it
 * before this one was installed.
 */
#include "multidim/md_create.h"

#include "base/errors.h"
#include "create/create.h"
#include "dataset/own_driver.h"
#include "multidim/group.h"
#include "multidim/md_dataset.h"
#include "store/directories.h"
#include "store/location.h"
#include "store/open_store.h"

namespace zarr3 {

bool is_multidimensional(GDALDataset *source) {
    return source->GetRasterCount() == 0 && source->GetRootGroup() != nullptr;
}

/* Those of arrays ("ARRAY:...") go to the copy of each array. */
static CPLStringList dataset_options(CSLConstList options) {
    CPLStringList result;
    for (; options != nullptr && *options != nullptr; options++) {
        if (!STARTS_WITH_CI(*options, "ARRAY:"))
            result.AddString(*options);
    }
    return result;
}

namespace {

/* A new dataset, and the place that it takes when it is complete. */
struct NewDataset {
    Destination destination;
    CreationOptions options;
    std::unique_ptr<Zarr3MultidimDataset> dataset;

    bool make(const char *name, CSLConstList list, bool staging);
};

} // namespace

bool NewDataset::make(const char *name, CSLConstList list, bool staging) {
    const CPLStringList own = dataset_options(list);
    std::string reason;
    const bool parsed =
        parse_creation_options(own.List(), &options, &reason) && check_for_arrays(options, &reason);
    if (options.append)
        reason =
            "APPEND_SUBDATASET is for rasters; open the dataset for updating and create arrays "
            "in it";
    if (!parsed || options.append || !find_destination(name, options, &destination, &reason)) {
        refuse_creation(name, reason);
        return false;
    }
    adopt_thread_count();
    zb_error err;
    if (destination.make(staging, options.write.sync, &err) != ZB_OK) {
        report(err);
        return false;
    }
    TreeOptions shown;
    shown.base = destination.node();
    shown.update = true;
    shown.write = options.write;
    shown.consolidate = consolidation(destination, options);
    shown.array_options = own;
    dataset = std::make_unique<Zarr3MultidimDataset>(
        std::make_shared<Tree>(destination.hierarchy(), shown));
    dataset->SetDescription(name);
    return true;
}

GDALDataset *create_multidimensional(const char *name, CSLConstList root_group_options,
                                     CSLConstList options) {
    if (GDALDriver *own = driver_of_v2(name, options))
        return own->CreateMultiDimensional(name, root_group_options, options);
    NewDataset made;
    if (!made.make(name, options, false))
        return nullptr;
    if (made.destination.node().empty())
        remove_sidecars(made.destination.hierarchy().root);
    made.destination.keep();
    return made.dataset.release();
}

/* ---- Copies ---- */

/* GDAL's copy goes on without what cannot be created, and the errors say what that is. Without
   anything it is no copy. */
static bool is_enough(const Zarr3MultidimDataset &copy, bool strict) {
    if (!copy.tree().has_refused())
        return true;
    const bool passes = copy.tree().has_created() && !strict;
    CPLError(passes ? CE_Warning : CE_Failure, CPLE_AppDefined,
             "%s: not all groups and arrays could be created, as the messages before say; %s",
             copy.GetDescription(), passes ? "the copy lacks them" : "nothing is kept of the copy");
    return passes;
}

static bool copy_groups(GDALDataset *source, Zarr3MultidimDataset *copy, bool strict,
                        CSLConstList options, GDALProgressFunc progress, void *progress_data) {
    const std::shared_ptr<GDALGroup> from = source->GetRootGroup(), to = copy->GetRootGroup();
    GUInt64 cost = 0;
    if (to != nullptr &&
        to->CopyFrom(to, source, from, strict, cost, from->GetTotalCopyCost(), progress,
                     progress_data, options) &&
        is_enough(*copy, strict))
        return copy->FlushCache() == CE_None;
    copy->forget();
    return false;
}

GDALDataset *copy_multidimensional(const char *name, GDALDataset *source, int strict,
                                   CSLConstList options, GDALProgressFunc progress,
                                   void *progress_data) {
    if (GDALDriver *own = driver_of_v2(name, options)) {
        /* The dataset enters GDAL's list of open ones when our own caller gets it. */
        CPLStringList all(CSLDuplicate(options), TRUE);
        all.SetNameValue("_INTERNAL_DATASET", "YES");
        return own->CreateCopy(name, source, strict, all.List(), progress, progress_data);
    }
    NewDataset made;
    if (!made.make(name, options, true) ||
        !copy_groups(source, made.dataset.get(), strict != FALSE, options,
                     progress != nullptr ? progress : GDALDummyProgress, progress_data))
        return nullptr;
    const bool closed = made.dataset->Close(ZARR3_NO_PROGRESS) == CE_None;
    made.dataset.reset();
    zb_error err;
    if (!closed)
        return nullptr;
    if (made.destination.replace(made.options.write.sync != ZB_SYNC_NONE, &err) != ZB_OK) {
        report(err);
        return nullptr;
    }
    GDALOpenInfo info(name, GDAL_OF_MULTIDIM_RASTER | made.destination.update_flag());
    return open_multidimensional(&info);
}

} // namespace zarr3
