/* SPDX-License-Identifier: MIT */
/*
 * The choices that are still open for an array that has just been created, until something is
 * written to it. Until then its fill value follows the nodata value, and in a hierarchy with others
 * the names of its dimensions follow its place.
 */
#ifndef ZARR3_FRESH_ARRAY_H
#define ZARR3_FRESH_ARRAY_H

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "array/new_array.h"
#include "array/nodata.h"
#include "array/place.h"
#include "store/unwritten_places.h"

namespace zarr3 {

/* Gives the dimensions of a plan the names that the array's place wants (geo/shared_names.h). */
using NameDimensions = enum zb_code (*)(zb_hierarchy *hierarchy, const std::string &array,
                                        const Georeference &place, NewArray *plan, zb_error *err);

/* Each array has one; that of an old array never begins. Array has the lock. */
class FreshArray {
  public:
    /* The array has been created from `plan`; `names` is null where it is alone. */
    void begin(const NewArray &plan, NameDimensions names);

    /* From now on the array stays as it is. */
    void end() {
        plan_.reset();
    }
    bool is_fresh() const {
        return plan_.has_value();
    }
    NewArray &plan() {
        return *plan_;
    }

    /* True if the array's fill value is not the nodata value, or what stands for none. The fill
       value of text is chosen by itself. */
    bool has_stale_fill(const zb_array_info *info, const NoData &nodata) const;

    /* Changes the plan to what these want. *fill: the fill value that goes with it. *changed: the
       array as its node has it is another one, and has to be created anew. */
    enum zb_code follow(const zb_node *array, const NoData *nodata, const Georeference &place,
                        std::vector<unsigned char> *fill, bool *changed, zb_error *err);

    /* Until show() nobody can open its group, new as it is, by its name. */
    void hide(const std::string &root, const std::string &group) {
        unwritten_ = std::make_unique<UnwrittenPlace>(root, group);
    }
    void show() {
        unwritten_.reset();
    }

  private:
    std::optional<NewArray> plan_;
    NameDimensions names_ = nullptr;
    std::unique_ptr<UnwrittenPlace> unwritten_;
};

} // namespace zarr3

#endif
