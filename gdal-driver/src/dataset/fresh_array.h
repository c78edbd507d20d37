/* SPDX-License-Identifier: MIT */
/*
 * What is still open of an array that has just been created, until something is written to it.
 * Until then its fill value follows the nodata value, and in a hierarchy with others the names of
 * its dimensions follow its place.
 */
#ifndef ZARR3_FRESH_ARRAY_H
#define ZARR3_FRESH_ARRAY_H

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "array/array.h"
#include "array/nodata.h"
#include "dataset/unwritten_places.h"
#include "geo/georeference.h"

namespace zarr3 {

/* Each dataset has one; that of an old array never begins. */
class FreshArray {
  public:
    /* The array has been created from `plan`; with `company` in a hierarchy that has others. */
    void begin(const NewArray &plan, bool company);

    /* From now on the array stays as it is. */
    void end() {
        plan_.reset();
    }

    bool is_fresh() const {
        return plan_.has_value();
    }

    /* True if its fill value is not the nodata value, or what stands for none. */
    bool has_stale_fill(const NoData &nodata) const;

    /* Creates the array anew where these want another one. */
    enum zb_code settle(zb_hierarchy *hierarchy, Array *array, const NoData &nodata,
                        const Georeference &place, zb_error *err);

    /* Until show() nobody can open its group, new as it is, by its name. */
    void hide(const std::string &root, const std::string &group) {
        unwritten_ = std::make_unique<UnwrittenPlace>(root, group);
    }
    void show() {
        unwritten_.reset();
    }

  private:
    std::optional<NewArray> plan_;
    std::vector<unsigned char> fill_; /* the fill value that the array has now */
    bool has_company_ = false;
    std::unique_ptr<UnwrittenPlace> unwritten_;
};

} // namespace zarr3

#endif
