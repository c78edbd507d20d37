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
    : store_(std::move(store)), node_(std::move(node)), around_(store_, zb_node_path(node_.get())) {
}

void Array::open_for_update(const zb_write_options &options) {
    writer_ = std::make_unique<PixelWriter>(options);
    zb_hierarchy_set_sync(store_.get(), options.sync);
    durable_ = options.sync != ZB_SYNC_NONE;
}

NodePtr Array::coordinate(uint32_t dim) const {
    return find_coordinate(node_.get(), dim, around_);
}

enum zb_code Array::read(const std::vector<BoxRead> &boxes, zb_dtype memory, zb_error *err,
                         zb_progress_fn fn, void *context) {
    std::vector<zb_read> reads;
    reads.reserve(boxes.size());
    for (const BoxRead &read : boxes) {
        const enum zb_code code = writer_ == nullptr ? ZB_OK : writer_->settle(read.place.box, err);
        if (code != ZB_OK)
            return code;
        zb_read next = {};
        next.node = node_.get();
        next.start = read.place.box.start.data();
        next.count = read.place.box.count.data();
        next.step = read.place.box.step.empty() ? nullptr : read.place.box.step.data();
        next.view = {read.data, memory, read.place.strides.data(), read.values};
        reads.push_back(next);
    }
    if (reads.empty())
        return ZB_OK;
    return fn != nullptr ? zb_array_read_with(reads.data(), reads.size(), fn, context, err)
                         : zb_array_read(reads.data(), reads.size(), err);
}

enum zb_code Array::write(const MemoryBox &place, const void *data, zb_dtype memory,
                          zb_error *err) {
    zb_write write = {};
    write.start = place.box.start.data();
    write.count = place.box.count.data();
    write.step = place.box.step.empty() ? nullptr : place.box.step.data();
    write.data = data;
    write.dtype = memory;
    write.strides = place.strides.data();
    return writer_->write(node_, write, err);
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
    node_ = std::move(node);
    around_ = NearbyNodes(store_, zb_node_path(node_.get()));
}

enum zb_code Array::change_attributes(const AttributeChanges &changes, zb_error *err) {
    NodePtr changed = node_;
    const enum zb_code code = changes.apply(&changed, err);
    take(std::move(changed)); /* also after a failure, which may come after some changes */
    return code;
}

/* The writer, which knows the node as it was, is opened anew at the next write. */
enum zb_code Array::resize(const std::vector<uint64_t> &shape, zb_error *err) {
    enum zb_code code = writer_->flush(err);
    zb_node *changed = nullptr;
    if (code == ZB_OK)
        code = zb_array_resize(node_.get(), shape.data(), &changed, err);
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
    zb_node *changed = nullptr;
    const enum zb_code code = zb_array_set_dimension_names(node_.get(), list.data(), &changed, err);
    if (code == ZB_OK)
        take(adopt_node(changed));
    return code;
}

enum zb_code Array::move_to(const std::string &path, zb_error *err) {
    NodePtr moved = open_node(store_.get(), path, err);
    if (moved == nullptr)
        return err->code;
    if (writer_ != nullptr)
        writer_->abandon();
    take(std::move(moved));
    return ZB_OK;
}

enum zb_code Array::recreate(const NewArray &plan, const std::vector<unsigned char> &fill_value,
                             zb_error *err) {
    const std::string attributes = json_text(zb_node_attributes(node_.get()));
    NodePtr created;
    enum zb_code code = zb_node_delete(store_.get(), path().c_str(), err);
    if (code == ZB_OK)
        code = plan.create(store_.get(), path(), fill_value, attributes, &created, err);
    if (code == ZB_OK)
        take(std::move(created));
    return code;
}

} // namespace zarr3
