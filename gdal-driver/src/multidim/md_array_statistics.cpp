/* SPDX-License-Identifier: MIT */
/*
 * Statistics of all elements of an array. They are in the attribute of side properties, beside
 * those of the bands that rasters have of the same array.
 */
#include "multidim/md_array.h"

#include "array/attributes.h"
#include "side/array_statistics.h"
#include "side/sidecar.h"
#include "side/side_properties.h"
#include "store/network.h"

namespace zarr3 {

bool Zarr3MDArray::change_statistics(const std::function<bool(XmlTree *)> &fn) {
    AttributeChanges changes;
    change_side_properties(&changes, fn);
    return change(changes);
}

/* Elements are about to change. The store keeps nothing that would be wrong then, and neither does
   the file beside it, where GDAL's rasters look first. */
bool Zarr3MDArray::forget_statistics() {
    if (!array_.note_change())
        return true;
    if (array_.drops_statistics() &&
        !change_statistics([](XmlTree *tree) { return drop_statistics(tree->get(), {}); })) {
        array_.statistics_are_set(); /* the next write tries again */
        return false;
    }
    if (has_place_beside(tree_->filename()))
        take_statistics_out_of_sidecar(tree_->filename() + ".aux.xml", path());
    return true;
}

/* Those that another program has stored since the first write are of the elements before, too. The
   next write forgets anew. */
enum zb_code Zarr3MDArray::drop_late_statistics(zb_error *err) {
    AttributeChanges changes;
    change_side_properties(&changes,
                           [](XmlTree *tree) { return drop_statistics(tree->get(), {}); });
    const enum zb_code code =
        array_.drops_statistics() ? array_.change_attributes(changes, err) : ZB_OK;
    if (code == ZB_OK)
        array_.statistics_are_stored();
    return code;
}

bool Zarr3MDArray::SetStatistics(bool approximate, double minimum, double maximum, double mean,
                                 double deviation, GUInt64 count, CSLConstList options) {
    if (!IsWritable())
        return GDALMDArray::SetStatistics(approximate, minimum, maximum, mean, deviation, count,
                                          options);
    const ArrayStatistics now = {approximate, minimum, maximum, mean, deviation, count};
    array_.statistics_are_stored();
    return change_statistics([now](XmlTree *tree) {
        set_array_statistics(tree, now);
        return true;
    });
}

CPLErr Zarr3MDArray::GetStatistics(bool may_approximate, bool force, double *minimum,
                                   double *maximum, double *mean, double *deviation, GUInt64 *count,
                                   GDALProgressFunc progress, void *progress_data) {
    const auto known = array_statistics(side_properties_of(array_.node()).get());
    if (!known || (known->approximate && !may_approximate))
        return force ? GDALMDArray::GetStatistics(may_approximate, force, minimum, maximum, mean,
                                                  deviation, count, progress, progress_data)
                     : CE_Warning;
    const auto give = [](auto *target, auto value) {
        if (target != nullptr)
            *target = value;
    };
    give(minimum, known->minimum);
    give(maximum, known->maximum);
    give(mean, known->mean);
    give(deviation, known->deviation);
    give(count, static_cast<GUInt64>(known->count));
    return CE_None;
}

void Zarr3MDArray::ClearStatistics() {
    if (IsWritable())
        change_statistics([](XmlTree *tree) { return drop_array_statistics(tree->get()); });
}

} // namespace zarr3
