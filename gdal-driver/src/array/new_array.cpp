/* SPDX-License-Identifier: MIT */
#include "array/new_array.h"

#include "array/attributes.h"
#include "array/dimension_names.h"
#include "base/handles.h"
#include "base/json_text.h"
#include "zarrbridge/change.h"
#include "zarrbridge/multiscales.h"
#include "zarrbridge/write.h"

namespace zarr3 {

enum zb_code NewArray::create(zb_hierarchy *hierarchy, const std::string &path,
                              const std::vector<unsigned char> &fill_value,
                              const std::string &attributes, NodePtr *out, zb_error *err) const {
    std::vector<const char *> name_list;
    for (const std::string &name : names)
        name_list.push_back(name.empty() ? nullptr : name.c_str());
    std::vector<zb_chunk_runs> run_list;
    for (const std::vector<zb_chunk_run> &dimension : runs)
        run_list.push_back({dimension.data(), dimension.size()});
    zb_array_spec spec = {};
    spec.ndim = static_cast<uint32_t>(shape.size());
    spec.shape = shape.data();
    spec.inner_shape = block.data();
    spec.shard_shape = shard.empty() ? nullptr : shard.data();
    spec.chunk_runs = run_list.empty() ? nullptr : run_list.data();
    spec.dtype = dtype;
    spec.fill_value = fill_value.empty() ? nullptr : fill_value.data();
    spec.codecs = codecs.c_str();
    spec.dimension_names = name_list.data();
    spec.attributes = attributes.empty() ? nullptr : attributes.c_str();
    spec.separator = key_encoding.empty() ? separator : '\0';
    spec.key_encoding = key_encoding.empty() ? nullptr : key_encoding.c_str();
    zb_node *node = nullptr;
    const enum zb_code code = zb_array_create(hierarchy, path.c_str(), &spec, &node, err);
    if (code == ZB_OK)
        *out = adopt_node(node);
    return code;
}

} // namespace zarr3
