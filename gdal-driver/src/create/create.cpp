/* SPDX-License-Identifier: MIT */
/*
 * A raster is a group of its own: the array of pixels, and beside it what CF readers want (grid
 * mapping, coordinates), which comes when the program says where the raster lies. That group may be
 * the first level in a group of levels (dataset/level_places.h).
 *
 * All that can be wrong with the arguments is found before anything is touched.
 */
#include "create/create.h"

#include "base/errors.h"
#include "create/array_plan.h"
#include "create/colours.h"
#include "dataset/level_places.h"
#include "geo/group_place.h"
#include "geo/shared_names.h"
#include "raster/pyramid_layout.h"
#include "store/directories.h"
#include "store/location.h"
#include "store/open_store.h"
#include "zarrbridge/change.h"

namespace zarr3 {

void refuse_creation(const char *name, const std::string &reason) {
    CPLError(CE_Failure, CPLE_NotSupported, "%s cannot be created: %s", shown_name(name).c_str(),
             reason.c_str());
}

/* Names that other arrays have, and names that the core does not take. */
static bool check_array_name(const std::string &name, std::string *reason) {
    for (const char *taken : {"x", "y", "band", "spatial_ref"}) {
        if (name == taken || name.find('/') != std::string::npos) {
            *reason = "ARRAY_NAME=" + name +
                      ": x, y, band and spatial_ref are names of other arrays, and a name has no "
                      "slash";
            return false;
        }
    }
    if (name[0] != '.' && !STARTS_WITH(name.c_str(), "__") && name != "zarr.json")
        return true;
    *reason = "ARRAY_NAME=" + name + ": a name does not begin with a dot or two underscores";
    return false;
}

bool find_destination(const char *name, const CreationOptions &options, Destination *destination,
                      std::string *reason) {
    if (!options.array_name.empty() && !check_array_name(options.array_name, reason))
        return false;
    if (options.append)
        return options.level_groups ? destination->find_new_group(name, options.array_name, reason)
                                    : destination->find_group(name, options.array_name, reason);
    if (!destination->find(name, reason))
        return false;
    /* An unknown option may have been meant to keep the store that is there. */
    if (destination->replaces() && !options.unknown.empty()) {
        *reason = "there is no option " + options.unknown +
                  ", and what is there would be replaced; drop the option, or delete the store";
        return false;
    }
    return true;
}

static std::string name_of_array(const Destination &destination, const CreationOptions &options) {
    return options.array_name.empty() ? destination.array_name() : options.array_name;
}

/* The group of the finest level, on the list of the group above it: by that levels to come find
   their places. */
static enum zb_code create_first_level(zb_hierarchy *hierarchy, const std::string &path,
                                       const RasterShape &raster, size_t ndim, zb_error *err) {
    zb_node *made = nullptr;
    const enum zb_code code = zb_group_create(hierarchy, path.c_str(), nullptr, &made, err);
    zb_node_release(made);
    NodePtr above = code == ZB_OK ? open_node(hierarchy, parent_path(path), err) : nullptr;
    if (above == nullptr)
        return err->code;
    LayoutEntry entry;
    entry.asset = last_part(path);
    entry.scale.assign(ndim, 1);
    entry.width = raster.width;
    entry.height = raster.height;
    AttributeChanges changes;
    put_into_layout(above.get(), {entry}, &changes);
    return changes.apply(&above, err);
}

/* In a group of its own, or beside others. */
static enum zb_code create_array(Destination *destination, bool staging, const RasterShape &raster,
                                 const CreationOptions &options, NewArray *plan, NodePtr *array,
                                 zb_error *err) {
    enum zb_code code = destination->make(staging, options.write.sync, err);
    zb_hierarchy *hierarchy = destination->hierarchy().store.get();
    const std::string group =
        options.level_groups ? join_path(destination->node(), kFirstLevel) : destination->node();
    if (code == ZB_OK && options.level_groups)
        code = create_first_level(hierarchy, group, raster, plan->shape.size(), err);
    const std::string path = join_path(group, name_of_array(*destination, options));
    if (code == ZB_OK && destination->has_company())
        code = name_dimensions(hierarchy, path, {std::nullopt, std::nullopt}, plan, err);
    const auto create = [&] { return plan->create(hierarchy, path, {}, "", array, err); };
    if (code == ZB_OK)
        code = destination->appends() ? add_raster(hierarchy, destination->node(), create, err)
                                      : create();
    if (code == ZB_OK && destination->appends())
        destination->created_array();
    return code;
}

std::string name_in_store(const Destination &destination, const CreationOptions &options) {
    const std::string node = destination.appends()
                                 ? join_path(destination.node(), options.array_name)
                                 : destination.node();
    return subdataset_name(destination.hierarchy().root, node, {});
}

Consolidate consolidation(const Destination &destination, const CreationOptions &options) {
    if (options.consolidated.has_value())
        return *options.consolidated ? Consolidate::Yes : Consolidate::No;
    return destination.has_company() ? Consolidate::No : Consolidate::IfItFits;
}

std::unique_ptr<Zarr3Dataset> create_raster(Destination *destination, bool staging,
                                            const RasterShape &raster,
                                            const CreationOptions &options) {
    NewArray plan;
    std::string reason;
    zb_error err;
    if (!plan_array(raster, options, &plan, &reason)) {
        CPLError(CE_Failure, CPLE_NotSupported, "%s", reason.c_str());
        return nullptr;
    }
    NodePtr array;
    if (create_array(destination, staging, raster, options, &plan, &array, &err) != ZB_OK) {
        report(err);
        return nullptr;
    }
    ArrayOptions how;
    how.update = true;
    how.write = options.write;
    std::unique_ptr<Zarr3Dataset> dataset =
        Zarr3Dataset::make(destination->hierarchy(), array, how, &reason);
    if (dataset == nullptr) {
        CPLError(CE_Failure, CPLE_AppDefined, "%s", reason.c_str());
        return nullptr;
    }
    dataset->set_fresh(plan, destination->has_company());
    if (!destination->appends())
        dataset->set_group_is_new();
    dataset->enable_side_properties();
    dataset->complete_at_close(consolidation(*destination, options));
    if (destination->made_in_place())
        dataset->set_unwritten(destination->node());
    return dataset;
}

GDALDataset *create(const char *name, int width, int height, int bands, GDALDataType type,
                    OptionList list) {
    Destination destination;
    CreationOptions options;
    std::string reason;
    if (!parse_creation_options(list, &options, &reason) ||
        !find_destination(name, options, &destination, &reason)) {
        refuse_creation(name, reason);
        return nullptr;
    }
    adopt_thread_count();
    std::unique_ptr<Zarr3Dataset> dataset =
        create_raster(&destination, false, {width, height, bands, type}, options);
    if (dataset == nullptr)
        return nullptr;
    set_new_colours(dataset.get(), options);
    if (destination.node().empty() && !options.append)
        remove_sidecars(destination.hierarchy().root);
    destination.keep();
    const std::string path = zb_node_path(dataset->node());
    dataset->SetDescription(options.append ? name_in_store(destination, options).c_str() : name);
    dataset->use_sidecar(path);
    if (options.make_overviews)
        dataset->levels().make_at_close(options.resampling);
    return dataset.release();
}

} // namespace zarr3
