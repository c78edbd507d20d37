/* SPDX-License-Identifier: MIT */
#include "multidim/new_md_array.h"

#include <algorithm>

#include "array/attributes.h"
#include "base/errors.h"
#include "base/json_text.h"
#include "create/array_plan.h"
#include "geo/find_grid_mapping.h"
#include "geo/group_place.h"
#include "multidim/dimension.h"
#include "multidim/md_array.h"

namespace zarr3 {

static std::string replaced(std::string text, const std::string &from, const std::string &to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

const char *array_option_list() {
    static const std::string list =
        replaced(creation_option_list(), "CreationOptionList", "MultiDimArrayCreationOptionList");
    return list.c_str();
}

const char *dataset_option_list() {
    static const std::string list =
        replaced(creation_option_list(), "CreationOptionList", "MultiDimDatasetCreationOptionList");
    return list.c_str();
}

/* Rows and columns are cut as those of rasters are; where they are not known, nothing is. */
static std::vector<enum zb_role>
roles_of(const std::vector<std::shared_ptr<GDALDimension>> &dimensions) {
    const auto count = [&](const char *type) {
        return std::count_if(dimensions.begin(), dimensions.end(),
                             [&](const auto &dimension) { return dimension->GetType() == type; });
    };
    const bool is_map =
        count(GDAL_DIM_TYPE_HORIZONTAL_X) == 1 && count(GDAL_DIM_TYPE_HORIZONTAL_Y) == 1;
    std::vector<enum zb_role> roles;
    for (const auto &dimension : dimensions) {
        const bool is_plane = dimension->GetType() == GDAL_DIM_TYPE_HORIZONTAL_X ||
                              dimension->GetType() == GDAL_DIM_TYPE_HORIZONTAL_Y;
        roles.push_back(!is_map ? ZB_ROLE_UNKNOWN : is_plane ? ZB_ROLE_PLANE : ZB_ROLE_SERIES);
    }
    return roles;
}

/* The array's own options, and those of the dataset that it does not have. */
static CPLStringList merged(CSLConstList own, const CPLStringList &common) {
    CPLStringList result(CSLDuplicate(common.List()), TRUE);
    return CPLStringList(CSLMerge(result.StealList(), own), TRUE);
}

static bool plan(const std::vector<std::shared_ptr<GDALDimension>> &dimensions,
                 const ElementType &type, const CreationOptions &options, NewArray *array,
                 std::string *reason) {
    for (const auto &dimension : dimensions) {
        array->names.push_back(dimension->GetName());
        array->shape.push_back(dimension->GetSize());
    }
    if (dimensions.size() > ZB_MAX_NDIM) {
        *reason = std::to_string(dimensions.size()) + " dimensions; an array has at most " +
                  std::to_string(ZB_MAX_NDIM);
        return false;
    }
    array->dtype = type.memory();
    plan_form(options, array);
    return dimensions.empty() || plan_chunks(options, roles_of(dimensions), 1, array, reason);
}

/* Rasters without a CRS of their own get the one beside them. A new array has none until the
   program sets it. */
static std::string first_attributes(const std::shared_ptr<Tree> &tree, const std::string &path,
                                    size_t ndim) {
    NearbyNodes around(tree->shared_store(), path);
    const bool would_get_one = ndim >= 2 && find_usual_grid_mapping(around) != nullptr;
    GdalMembers members;
    members[ZB_GDAL_HAS_CRS] = "false";
    return would_get_one ? json_object({{ZB_GDAL_EXTENSION, gdal_extension_json(members)}})
                         : std::string();
}

std::shared_ptr<GDALMDArray>
create_md_array(const std::shared_ptr<Tree> &tree, const std::string &group,
                const std::string &name,
                const std::vector<std::shared_ptr<GDALDimension>> &dimensions,
                const GDALExtendedDataType &type, CSLConstList list) {
    CreationOptions options;
    NewArray array;
    std::string reason;
    const CPLStringList all = merged(list, tree->options().array_options);
    std::unique_ptr<ElementType> stored = ElementType::stored_as(type, &reason);
    if (!is_child_name(name))
        reason = "a name has letters, and no slash (gdalmdimtranslate takes that of the copy by "
                 "-array name=/group/array,dstname=array)";
    if (stored == nullptr || !reason.empty() ||
        !parse_creation_options(all.List(), &options, &reason) ||
        !check_for_arrays(options, &reason) ||
        !plan(dimensions, *stored, options, &array, &reason)) {
        CPLError(CE_Failure, CPLE_NotSupported, "array %s cannot be created: %s", name.c_str(),
                 reason.c_str());
        return nullptr;
    }
    const std::string path = join_path(group, stored_name(name));
    NodePtr node;
    zb_error err;
    const auto create = [&] {
        return array.create(tree->store(), path, {},
                            first_attributes(tree, path, dimensions.size()), &node, &err);
    };
    const enum zb_code code =
        dimensions.size() >= 2 ? add_raster(tree->store(), group, create, &err) : create();
    if (code != ZB_OK) {
        report(err);
        return nullptr;
    }
    const std::shared_ptr<Zarr3MDArray> made = Zarr3MDArray::make(tree, node, &reason);
    if (made == nullptr) {
        CPLError(CE_Failure, CPLE_AppDefined, "%s", reason.c_str());
        return nullptr;
    }
    tree->keep(path, made);
    array.dtype = zb_node_array(node.get())->dtype; /* outlives the plan's own */
    made->set_fresh(array, dimensions, options.write);
    /* The coordinates of a dimension are the array of its name. */
    const bool is_coordinate = dimensions.size() == 1 && dimensions[0]->GetName() == name;
    const auto own =
        is_coordinate ? std::dynamic_pointer_cast<Zarr3Dimension>(dimensions[0]) : nullptr;
    if (own != nullptr && own->group() == group)
        own->take_coordinate(node);
    return made;
}

} // namespace zarr3
