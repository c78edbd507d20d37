/* SPDX-License-Identifier: MIT */
/*
 * A change of an attribute gives a new node, and may come with new nodes around the array (a grid
 * mapping, coordinates). So the nodes around are forgotten with each change and opened again at the
 * next question for them.
 */
#include "array/array.h"

#include "array/attributes.h"
#include "array/coordinates.h"
#include "zarrbridge/change.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/hierarchy.h"
#include "zarrbridge/write.h"

namespace zarr3 {

Array::Array(HierarchyPtr store, NodePtr node)
    : store_(std::move(store)), lock_(std::make_unique<std::recursive_mutex>()) {
    take(std::move(node));
}

void Array::open_for_update(const zb_write_options &options) {
    writer_ = std::make_unique<PixelWriter>(options);
    zb_hierarchy_set_sync(store_.get(), options.sync);
    durable_ = options.sync != ZB_SYNC_NONE;
}

NodePtr Array::coordinate(uint32_t dim) const {
    const std::shared_ptr<const Seen> now = seen();
    return find_coordinate(now->node.get(), dim, now->around);
}

enum zb_code Array::read(const std::vector<BoxRead> &boxes, zb_dtype memory, zb_error *err,
                         zb_progress_fn fn, void *context) {
    const NodePtr node = shared_node();
    std::vector<zb_read> reads;
    reads.reserve(boxes.size());
    for (const BoxRead &read : boxes) {
        const enum zb_code code = writer_ == nullptr ? ZB_OK : writer_->settle(read.place.box, err);
        if (code != ZB_OK)
            return code;
        zb_read next = {};
        next.node = node.get();
        next.start = read.place.box.start.data();
        next.count = read.place.box.count.data();
        next.step = read.place.box.step.empty() ? nullptr : read.place.box.step.data();
        next.view = {read.data, memory, read.place.strides.data(), read.values};
        next.is_ahead = read.is_ahead;
        reads.push_back(next);
    }
    if (reads.empty())
        return ZB_OK;
    return fn != nullptr ? zb_array_read_with(reads.data(), reads.size(), fn, context, err)
                         : zb_array_read(reads.data(), reads.size(), err);
}

enum zb_code Array::node_to_write(NodePtr *node, zb_error *err) {
    const Lock lock(*lock_);
    note_change();
    const enum zb_code code = keep(err);
    *node = seen_->node;
    return code;
}

enum zb_code Array::write_encoded(const std::vector<zb_encoded> &chunks, zb_error *err) {
    NodePtr node;
    const enum zb_code code = node_to_write(&node, err);
    return code != ZB_OK ? code : writer_->write_encoded(node, chunks, err);
}

enum zb_code Array::write(const MemoryBox &place, const void *data, zb_dtype memory,
                          zb_error *err) {
    NodePtr node;
    const enum zb_code code = node_to_write(&node, err);
    if (code != ZB_OK)
        return code;
    zb_write write = {};
    write.start = place.box.start.data();
    write.count = place.box.count.data();
    write.step = place.box.step.empty() ? nullptr : place.box.step.data();
    write.data = data;
    write.dtype = memory;
    write.strides = place.strides.data();
    return writer_->write(node, write, err);
}

enum zb_code Array::flush(zb_error *err) {
    const enum zb_code stored = writer_->flush(err);
    if (!durable_)
        return stored == ZB_OK && settles_ ? zb_hierarchy_write_back(store_.get(), err) : stored;
    /* Also after a failure: the chunks that could be stored, and the attributes, are to be
       durable. */
    zb_error *reason = stored == ZB_OK ? err : nullptr;
    const enum zb_code durable =
        settles_ ? zb_hierarchy_flush(store_.get(), reason)
                 : zb_store_flush_batch(zb_hierarchy_store(store_.get()), nullptr, reason);
    return stored == ZB_OK ? durable : stored;
}

void Array::abandon() {
    writer_->abandon();
}

void Array::take(NodePtr node) {
    NearbyNodes around(store_, zb_node_path(node.get()));
    const Lock lock(*lock_);
    seen_ = std::make_shared<const Seen>(Seen{std::move(node), std::move(around)});
}

enum zb_code Array::change_attributes(const AttributeChanges &changes, zb_error *err) {
    const Lock lock(*lock_);
    NodePtr changed = seen_->node;
    const enum zb_code code = changes.apply(&changed, err);
    take(std::move(changed)); /* also after a failure, which may come after some changes */
    return code;
}

/* The writer, which knows the node as it was, is opened anew at the next write. */
enum zb_code Array::resize(const std::vector<uint64_t> &shape, zb_error *err) {
    const Lock lock(*lock_);
    enum zb_code code = is_gone_ ? keep(err) : ZB_OK;
    if (code == ZB_OK) {
        fresh_.end();
        code = writer_->flush(err);
    }
    zb_node *changed = nullptr;
    if (code == ZB_OK)
        code = zb_array_resize(node(), shape.data(), &changed, err);
    if (code == ZB_OK) {
        writer_->abandon();
        take(adopt_node(changed));
    }
    return code;
}

enum zb_code Array::name_dimensions(const std::vector<std::string> &names, zb_error *err) {
    std::vector<const char *> list;
    for (const std::string &name : names)
        list.push_back(name.empty() ? nullptr : name.c_str());
    const Lock lock(*lock_);
    zb_node *changed = nullptr;
    const enum zb_code code = zb_array_set_dimension_names(node(), list.data(), &changed, err);
    if (code != ZB_OK)
        return code;
    if (fresh_.is_fresh())
        fresh_.plan().names = names;
    take(adopt_node(changed));
    return ZB_OK;
}

enum zb_code Array::move_to(const std::string &path, zb_error *err) {
    NodePtr moved = open_node(store_.get(), path, err);
    if (moved == nullptr)
        return err->code;
    if (writer_ != nullptr)
        writer_->abandon();
    take(std::move(moved));
    const Lock lock(*lock_);
    pyramid_.reset();
    return ZB_OK;
}

/* ---- A new array ---- */

void Array::begin_fresh(const NewArray &plan, NameDimensions names) {
    const Lock lock(*lock_);
    fresh_.begin(plan, names);
}

bool Array::is_fresh() const {
    const Lock lock(*lock_);
    return fresh_.is_fresh();
}

void Array::hide(const std::string &root, const std::string &group) {
    const Lock lock(*lock_);
    fresh_.hide(root, group);
}

void Array::show() {
    const Lock lock(*lock_);
    fresh_.show();
}

/* Until the array has been created again, its node is the one before, and what is at its path is
   not ours to delete. */
enum zb_code Array::recreate(const std::vector<unsigned char> &fill_value, zb_error *err) {
    const Lock lock(*lock_);
    const std::string attributes = json_text(zb_node_attributes(node()));
    unsettled_ = seen_;
    NodePtr created;
    enum zb_code code = is_gone_ ? ZB_OK : zb_node_delete(store_.get(), path().c_str(), err);
    is_gone_ = code == ZB_OK;
    if (code == ZB_OK)
        code = fresh_.plan().create(store_.get(), path(), fill_value, attributes, &created, err);
    if (code == ZB_OK) {
        is_gone_ = false;
        take(std::move(created));
    }
    return code;
}

enum zb_code Array::settle_fresh(zb_error *err) {
    const Lock lock(*lock_);
    std::vector<unsigned char> fill;
    bool changed = false;
    if (!fresh_.is_fresh())
        return ZB_OK;
    const enum zb_code code = fresh_.follow(node(), nodata_is_set_ ? &*nodata_ : nullptr,
                                            place_.value_or(Georeference()), &fill, &changed, err);
    return code == ZB_OK && (changed || is_gone_) ? recreate(fill, err) : code;
}

enum zb_code Array::prepare_read(zb_error *err) {
    const Lock lock(*lock_);
    const bool is_stale = nodata_is_set_ && fresh_.has_stale_fill(info(), *nodata_);
    return is_stale || is_gone_ ? settle_fresh(err) : ZB_OK;
}

enum zb_code Array::keep(zb_error *err) {
    const Lock lock(*lock_);
    fresh_.show();
    const enum zb_code code = settle_fresh(err);
    if (code == ZB_OK)
        fresh_.end();
    return code;
}

/* ---- Pyramid ---- */

Pyramid Array::pyramid(uint32_t fewest_dimensions) const {
    const Lock lock(*lock_);
    if (info()->ndim < fewest_dimensions)
        return {};
    if (!pyramid_)
        pyramid_ = find_pyramid(node(), around(), 1);
    return *pyramid_;
}

std::vector<NodePtr> Array::levels(uint32_t fewest_dimensions) const {
    std::vector<NodePtr> levels;
    const Pyramid listed = pyramid(fewest_dimensions);
    for (const std::string &level : listed.levels) {
        if (level == path())
            continue;
        zb_error err;
        const NodePtr node = open_node(store_.get(), level, &err);
        if (node != nullptr && zb_node_array(node.get()) != nullptr)
            levels.push_back(node);
        else
            CPLDebug("ZARR3", "level %s is left out: %s", level.c_str(),
                     node == nullptr ? err.message : "it is a group");
    }
    return levels;
}

/* ---- Nodata and place ---- */

NoData Array::nodata() const {
    const Lock lock(*lock_);
    if (!nodata_)
        nodata_ = find_raw_nodata(node());
    return *nodata_;
}

void Array::set_nodata(const NoData &nodata) {
    const Lock lock(*lock_);
    nodata_ = nodata;
    nodata_is_set_ = true;
}

void Array::forget_set_nodata() {
    const Lock lock(*lock_);
    nodata_.reset();
    nodata_is_set_ = false;
}

const Georeference &Array::place(const std::function<Georeference()> &find) const {
    const Lock lock(*lock_);
    if (!place_)
        place_ = find();
    return *place_;
}

void Array::set_place(const Georeference &place) {
    const Lock lock(*lock_);
    place_ = place;
}

/* ---- Statistics ---- */

/* Other programs may have set some meanwhile, of what is no new array. */
bool Array::note_change() {
    const Lock lock(*lock_);
    if (has_changed_)
        return false;
    has_changed_ = true;
    drops_statistics_ =
        drops_statistics_ || !fresh_.is_fresh() || !gdal_text(node(), ZB_GDAL_PAM).empty();
    return true;
}

bool Array::has_changed() const {
    const Lock lock(*lock_);
    return has_changed_;
}

bool Array::drops_statistics() const {
    const Lock lock(*lock_);
    return drops_statistics_;
}

void Array::statistics_are_set() {
    const Lock lock(*lock_);
    has_changed_ = false;
}

void Array::statistics_are_stored() {
    const Lock lock(*lock_);
    has_changed_ = drops_statistics_ = false;
}

} // namespace zarr3
