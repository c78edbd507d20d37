/* SPDX-License-Identifier: MIT */
/*
 * An array of any number of dimensions: its node, the nodes around it, the way of elements out of
 * the store and into it, its attributes, its levels, and what has been set of it and is not in the
 * store yet.
 * What GDAL shows is a view of it (a raster with bands, see dataset.h; md_array.h).
 *
 * A program uses an array in one thread at a time. Beside that thread others write blocks of GDAL's
 * cache: they call write(), keep() and shared_node() alone. What these use is under the array's
 * lock, whose holder calls nothing that waits for GDAL's cache.
 */
#ifndef ZARR3_ARRAY_H
#define ZARR3_ARRAY_H

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "array/attribute_changes.h"
#include "array/box.h"
#include "array/fresh_array.h"
#include "array/nearby_nodes.h"
#include "array/new_array.h"
#include "array/pixel_writer.h"
#include "array/pyramid.h"
#include "zarrbridge/read.h"
#include "zarrbridge/write.h"

namespace zarr3 {

/* A box to be read, and the place of its first element in memory. */
struct BoxRead {
    MemoryBox place;
    void *data;
    zb_values *values = nullptr; /* of elements of variable length */
    bool is_ahead = false;       /* as in zb_read */
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
       it: only the program's thread may have them. */
    const zb_node *node() const {
        return seen()->node.get();
    }
    NodePtr shared_node() const {
        return seen()->node;
    }
    const zb_array_info *info() const {
        return zb_node_array(node());
    }
    std::string path() const {
        return zb_node_path(node());
    }
    NearbyNodes &around() const {
        return seen()->around;
    }

    /* The coordinate array of a dimension, or null. */
    NodePtr coordinate(uint32_t dim) const;

    /* Reads all boxes by one call of the core, which so sees all of the work at once: chunks that
       several boxes share are decoded once, on all threads. Elements that wait in the writer for
       the rest of a chunk that a box touches are stored before. `memory` is the type of the
       elements in memory. With `fn` as zb_array_read_with. */
    enum zb_code read(const std::vector<BoxRead> &boxes, zb_dtype memory, zb_error *err,
                      zb_progress_fn fn = nullptr, void *context = nullptr);

    /* From any thread. What is open of a new array is settled before. */
    enum zb_code write(const MemoryBox &place, const void *data, zb_dtype memory, zb_error *err);

    /* The same for whole chunks, see zb_writer_put_encoded. */
    enum zb_code write_encoded(const std::vector<zb_encoded> &chunks, zb_error *err);

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

    /* ---- A new array ---- */

    /* The array has been created from `plan`; `names` is null where it is alone. */
    void begin_fresh(const NewArray &plan, NameDimensions names);
    bool is_fresh() const;
    void hide(const std::string &root, const std::string &group);
    void show();

    /* Creates a fresh array anew where the nodata value or the place that were set want another
       one, with its attributes. Its elements are lost; it has none yet. After an error the next
       call, or write, tries again. */
    enum zb_code settle_fresh(zb_error *err);
    /* To be called before elements are read: those of a new array are its nodata value. */
    enum zb_code prepare_read(zb_error *err);
    /* The same, with a fill value of the array's type that is no nodata value. */
    enum zb_code recreate(const std::vector<unsigned char> &fill_value, zb_error *err);
    /* Settles it, and it stays as it is. From any thread. */
    enum zb_code keep(zb_error *err);

    /* ---- Pyramid ---- */

    /* The one that the array belongs to, or an empty one; that also of an array with fewer
       dimensions than are asked for. Found at the first question, and anew after move_to(), which
       a caller may outlive: so it is the caller's own. */
    Pyramid pyramid(uint32_t fewest_dimensions = 2) const;

    /* The other arrays on its list, in their order. Those that cannot be opened are left out. */
    std::vector<NodePtr> levels(uint32_t fewest_dimensions = 2) const;

    /* ---- Nodata and place ---- */

    /* The one that was set, else that of the store (find_raw_nodata). */
    NoData nodata() const;
    void set_nodata(const NoData &nodata);
    /* It is asked for anew: the store has what was set. */
    void forget_set_nodata();

    /* find() is called for a place that is neither set nor known. It lives as long as the array,
       and set_place() changes it. */
    const Georeference &place(const std::function<Georeference()> &find) const;
    void set_place(const Georeference &place);

    /* ---- Statistics ---- */

    /* Elements are about to change, and what is known of their distribution is of the past. True
       the first time since statistics were set or stored. */
    bool note_change();
    bool has_changed() const;
    /* True if the store may have statistics of the elements before. */
    bool drops_statistics() const;
    /* They are those of the elements of now. */
    void statistics_are_set();
    void statistics_are_stored();

  private:
    struct Seen {
        NodePtr node;
        mutable NearbyNodes around;
    };
    using Lock = std::lock_guard<std::recursive_mutex>;

    std::shared_ptr<const Seen> seen() const {
        const Lock lock(*lock_);
        return seen_;
    }
    void take(NodePtr node);
    /* The node to write to, which is settled. */
    enum zb_code node_to_write(NodePtr *node, zb_error *err);

    HierarchyPtr store_;
    std::unique_ptr<PixelWriter> writer_; /* null for reading */
    bool durable_ = false;                /* the option sync is not ZB_SYNC_NONE */
    bool settles_ = true;

    std::unique_ptr<std::recursive_mutex> lock_; /* of all that follows */
    std::shared_ptr<const Seen> seen_;
    std::shared_ptr<const Seen> unsettled_; /* of a fresh array, which another thread may have
                                               settled while the program's looks at this */
    FreshArray fresh_;
    bool is_gone_ = false; /* a fresh array, deleted and not created again yet */
    mutable std::optional<Pyramid> pyramid_;
    mutable std::optional<NoData> nodata_;
    bool nodata_is_set_ = false;
    mutable std::optional<Georeference> place_;
    bool has_changed_ = false, drops_statistics_ = false;
};

} // namespace zarr3

#endif
