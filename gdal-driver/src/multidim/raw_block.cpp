/* SPDX-License-Identifier: MIT */
#include "multidim/raw_block.h"

#include <vector>

#include "array/attributes.h"
#include "base/json_text.h"
#include "store/location.h"
#include "store/network.h"
#include "store/open_store.h"

namespace zarr3 {

namespace {

/* The codecs of the innermost chunks, sorted by what they do. */
struct Pipeline {
    const zb_codec_info *bytes = nullptr, *transpose = nullptr, *compressor = nullptr;
    bool has_others = false;
};

} // namespace

static bool is_one_of(const char *name, const std::vector<const char *> &names) {
    for (const char *one : names) {
        if (strcmp(name, one) == 0)
            return true;
    }
    return false;
}

static Pipeline innermost(const zb_array_info *info) {
    Pipeline pipeline;
    for (uint32_t i = 0; i < info->codec_count; i++) {
        const zb_codec_info *codec = &info->codecs[i];
        const zb_codec_info **place = nullptr;
        if (codec->shard_level < info->shard_depth) {
            pipeline.has_others =
                pipeline.has_others || strcmp(codec->name, "sharding_indexed") != 0;
            continue;
        }
        if (strcmp(codec->name, "bytes") == 0)
            place = &pipeline.bytes;
        else if (strcmp(codec->name, "transpose") == 0)
            place = &pipeline.transpose;
        else if (is_one_of(codec->name, {"gzip", "blosc", "zstd"}))
            place = &pipeline.compressor;
        if (place != nullptr && *place == nullptr)
            *place = codec;
        else
            pipeline.has_others = true;
    }
    pipeline.has_others = pipeline.has_others || pipeline.bytes == nullptr;
    return pipeline;
}

static std::string as_json(const zb_codec_info *codec) {
    return json_of([codec](zb_json_writer *writer) { zb_codec_print(writer, codec); });
}

std::string compressor_of(const zb_node *array) {
    const Pipeline pipeline = innermost(zb_node_array(array));
    return pipeline.compressor == nullptr || pipeline.has_others ? ""
                                                                 : as_json(pipeline.compressor);
}

CPLStringList raw_block_items(const zb_node *array) {
    const zb_array_info *info = zb_node_array(array);
    const Pipeline pipeline = innermost(info);
    CPLStringList items;
    const char *endian = pipeline.bytes == nullptr
                             ? nullptr
                             : zb_json_string(zb_json_get(pipeline.bytes->configuration, "endian"));
    if (pipeline.compressor != nullptr && !pipeline.has_others)
        items.SetNameValue("COMPRESSOR", as_json(pipeline.compressor).c_str());
    if (pipeline.has_others)
        items.SetNameValue("CODECS",
                           compact_json(zb_json_get(zb_node_document(array), "codecs")).c_str());
    if (endian != nullptr && info->dtype.size > 1)
        items.SetNameValue("ENDIANNESS", EQUAL(endian, "big") ? "BIG" : "LITTLE");
    if (pipeline.transpose != nullptr)
        items.SetNameValue(
            "TRANSPOSE_ORDER",
            compact_json(zb_json_get(pipeline.transpose->configuration, "order")).c_str());
    if (info->shard_depth > 0)
        items.SetNameValue("CHUNK_TYPE", "INNER");
    return items;
}

std::string object_file(const std::string &root, const std::string &key, std::string *reason) {
    const std::string plain = root.substr(0, root.find('?'));
    if (is_archive(root))
        *reason = "blocks of zip archives have no file of their own";
    else if (!is_url(root))
        return file_in(root, key);
    else if (STARTS_WITH(root.c_str(), "http") && plain == root)
        return "/vsicurl/" + file_in(root, key);
    else if (STARTS_WITH(root.c_str(), "s3://") && plain == root)
        return "/vsis3/" + file_in(root.substr(strlen("s3://")), key);
    else if (STARTS_WITH(root.c_str(), "az://") && plain == root)
        return "/vsiaz/" + file_in(root.substr(strlen("az://")), key);
    else
        *reason = "there is no virtual file for " + shown_name(root);
    return {};
}

} // namespace zarr3
