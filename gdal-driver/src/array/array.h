/* SPDX-License-Identifier: MIT */
/*
 * An array of any number of dimensions: its node, the nodes around it, the way of elements out of
 * the store and into it, its attributes. What GDAL shows is a view of it (a raster with bands, see
 * dataset.h). This class knows no bands and no place on the map.
 */
#ifndef ZARR3_ARRAY_H
#define ZARR3_ARRAY_H

#include <memory>
#include <string>
#include <vector>

#include "array/attribute_changes.h"
#include "array/box.h"
#include "array/nearby_nodes.h"
#include "array/new_array.h"
#include "array/pixel_writer.h"
#include "zarrbridge/read.h"
#include "zarrbridge/write.h"

namespace zarr3 {

/* A box to be read, and the place of its first element in memory. */
struct BoxRead {
    MemoryBox place;
    void *data;
    zb_values *values = nullptr; /* of elements of variable length */
};

class Array {
  public:
    /* For reading; open_for_update() makes it writable. The array keeps its store alive. */
    Array(HierarchyPtr store, NodePtr node);

    void open_for_update(const zb_write_options &options);

    bool is_writable() const {
        return writer_ != nullptr;
    }

    /* The node as it is since the last change of an attribute. Pointers into an older one die with
       it. */
    const zb_node *node() const {
        return node_.get();
    }
    const NodePtr &shared_node() const {
        return node_;
    }
    const zb_array_info *info() const {
        return zb_node_array(node_.get());
    }
    std::string path() const {
        return zb_node_path(node_.get());
    }
    NearbyNodes &around() const {
        return around_;
    }

    /* The coordinate array of a dimension, or null. */
    NodePtr coordinate(uint32_t dim) const;

    /* Reads all boxes by one call of the core, which so sees all of the work at once: chunks that
       several boxes share are decoded once, on all threads. Elements that wait in the writer for
       the rest of a chunk that a box touches are stored before. `memory` is the type of the
       elements in memory. With `fn` as zb_array_read_with. */
    enum zb_code read(const std::vector<BoxRead> &boxes, zb_dtype memory, zb_error *err,
                      zb_progress_fn fn = nullptr, void *context = nullptr);

    /* From any thread. */
    enum zb_code write(const MemoryBox &place, const void *data, zb_dtype memory, zb_error *err);

    /* Stores all that waits, and makes it as durable as the options for updating say. */
    enum zb_code flush(zb_error *err);

    /* It will be moved to its place: the consolidated metadata above it, which would name it as it
       is called now, are left to another array's flush. */
    void leave_unsettled() {
        settles_ = false;
    }

    /* Nothing that waits will be stored. */
    void abandon();

    /* True after a read has met elements that waited; see PixelWriter. */
    bool is_mixed() const {
        return writer_ != nullptr && writer_->is_mixed();
    }

    enum zb_code change_attributes(const AttributeChanges &changes, zb_error *err);

    /* What waits is stored before. */
    enum zb_code resize(const std::vector<uint64_t> &shape, zb_error *err);
    /* An empty name stands for none. */
    enum zb_code name_dimensions(const std::vector<std::string> &names, zb_error *err);

    /* The node is at another path now. What waits must have been stored. */
    enum zb_code move_to(const std::string &path, zb_error *err);

    /* Creates the array anew by `plan`, with its attributes and with this fill value. All elements
       are lost, so that this is for arrays that have none yet. */
    enum zb_code recreate(const NewArray &plan, const std::vector<unsigned char> &fill_value,
                          zb_error *err);

  private:
    void take(NodePtr node);

    HierarchyPtr store_;
    NodePtr node_;
    mutable NearbyNodes around_;
    std::unique_ptr<PixelWriter> writer_; /* null for reading */
    bool durable_ = false;                /* the option sync is not ZB_SYNC_NONE */
    bool settles_ = true;
};

} // namespace zarr3

#endif
