/* SPDX-License-Identifier: MIT */
#include "base/extent_lists.h"

#include <algorithm>
#include <climits>
#include <memory>

#include "zarrbridge/json.h"

namespace zarr3 {

namespace {
struct FreeJson {
    void operator()(zb_json *json) const {
        zb_json_free(json);
    }
};
} // namespace

/* An extent or a count. GDAL counts pixels in int. */
static bool is_amount(const zb_json *value, uint64_t *out) {
    return zb_json_uint64(value, out) && *out > 0 && *out <= INT_MAX;
}

static bool add_item(const zb_json *item, std::vector<zb_chunk_run> *runs) {
    zb_chunk_run run = {0, 1};
    const zb_json *first = zb_json_first(item);
    const bool good = zb_json_kind_of(item) == ZB_JSON_ARRAY
                          ? zb_json_count(item) == 2 && is_amount(first, &run.extent) &&
                                is_amount(zb_json_next(first), &run.count)
                          : is_amount(item, &run.extent);
    runs->push_back(run);
    return good;
}

static bool add_dimension(const zb_json *value, std::vector<uint64_t> *extents, ChunkRuns *runs) {
    uint64_t extent = 0;
    runs->emplace_back();
    bool good = true;
    if (zb_json_kind_of(value) == ZB_JSON_ARRAY) {
        good = zb_json_count(value) > 0;
        for (const zb_json *item = zb_json_first(value); item != nullptr && good;
             item = zb_json_next(item)) {
            good = add_item(item, &runs->back());
            extent = std::max(extent, runs->back().back().extent);
        }
    } else {
        good = is_amount(value, &extent);
    }
    extents->push_back(extent);
    return good;
}

bool parse_extent_lists(const char *name, const char *text, std::vector<uint64_t> *extents,
                        ChunkRuns *runs, std::string *reason) {
    const std::string list = std::string("[") + text + "]";
    zb_json *parsed = nullptr;
    bool good = zb_json_parse(list.c_str(), list.size(), &parsed, nullptr) == ZB_OK;
    const std::unique_ptr<zb_json, FreeJson> json(good ? parsed : nullptr);
    for (const zb_json *value = zb_json_first(json.get()); value != nullptr && good;
         value = zb_json_next(value))
        good = add_dimension(value, extents, runs);
    if (!good || extents->size() < 2)
        *reason = std::string(name) + "=" + text +
                  " is not of the form ROWS,COLUMNS, each a number or a list like [31,28,[30,2]]";
    return good && extents->size() >= 2;
}

} // namespace zarr3
