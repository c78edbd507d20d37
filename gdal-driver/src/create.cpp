/* SPDX-License-Identifier: MIT */
/*
 * A raster is a group of its own: the array of pixels, and beside it what CF readers want (grid
 * mapping, coordinates), which comes when the program says where the raster lies.
 *
 * All that can be wrong with the arguments is found before anything is touched.
 */
#include "create.h"

#include "errors.h"
#include "manage.h"
#include "open.h"

namespace zarr3 {

void refuse_creation(const char *name, const std::string &reason) {
    CPLError(CE_Failure, CPLE_NotSupported, "%s cannot be created: %s", name, reason.c_str());
}

std::unique_ptr<Zarr3Dataset> create_raster(Target *target, bool aside, const RasterShape &raster,
                                            const CreationOptions &options) {
    NewArray plan;
    std::string reason;
    zb_error err;
    if (!plan_array(raster, options, &plan, &reason)) {
        CPLError(CE_Failure, CPLE_NotSupported, "%s", reason.c_str());
        return nullptr;
    }
    const std::string name = options.array_name.empty() ? target->array_name() : options.array_name;
    for (const char *taken : {"x", "y", "band", "spatial_ref"}) {
        if (name == taken || name.find('/') != std::string::npos) {
            CPLError(CE_Failure, CPLE_IllegalArg,
                     "ARRAY_NAME=%s: x, y, band and spatial_ref are names of other arrays, and a "
                     "name has no slash",
                     name.c_str());
            return nullptr;
        }
    }
    enum zb_code code = target->make(aside, options.write.sync, &err);
    NodePtr array;
    const Hierarchy &hierarchy = target->hierarchy();
    if (code == ZB_OK)
        code =
            plan.create(hierarchy.store.get(), join_path(target->node(), name), {}, &array, &err);
    if (code != ZB_OK) {
        report(err);
        return nullptr;
    }
    ArrayOptions how;
    how.update = true;
    how.write = options.write;
    std::unique_ptr<Zarr3Dataset> dataset = Zarr3Dataset::make(hierarchy, array, how, &reason);
    if (dataset == nullptr)
        CPLError(CE_Failure, CPLE_AppDefined, "%s", reason.c_str());
    else
        dataset->set_fresh(plan);
    return dataset;
}

GDALDataset *create(const char *name, int width, int height, int bands, GDALDataType type,
                    OptionList list) {
    Target target;
    CreationOptions options;
    std::string reason;
    if (!parse_creation_options(list, &options, &reason) || !target.find(name, &reason)) {
        refuse_creation(name, reason);
        return nullptr;
    }
    adopt_thread_count();
    std::unique_ptr<Zarr3Dataset> dataset =
        create_raster(&target, false, {width, height, bands, type}, options);
    if (dataset == nullptr)
        return nullptr;
    if (target.node().empty())
        remove_sidecars(target.hierarchy().root);
    target.keep();
    dataset->SetDescription(name);
    dataset->use_sidecar(zb_node_path(dataset->array()));
    return dataset.release();
}

} // namespace zarr3
