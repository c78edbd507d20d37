/* SPDX-License-Identifier: MIT */
/*
 * An array as a raster. The dataset holds what is shown and what has been set, and hands its work
 * to the owners of a state that is theirs alone: reading, the mask, the levels, a new array.
 */
#ifndef ZARR3_DATASET_H
#define ZARR3_DATASET_H

#include <memory>
#include <optional>
#include <vector>

#include "array/array.h"
#include "array/nodata.h"
#include "array/pyramid.h"
#include "array/types.h"
#include "dataset/band_lists.h"
#include "dataset/edits.h"
#include "dataset/node_dataset.h"
#include "dataset/raster_levels.h"
#include "dataset/raster_mask.h"
#include "dataset/raster_reader.h"
#include "geo/georeference.h"
#include "geo/shared_names.h"
#include "side/side_properties.h"
#include "store/complete.h"

#include "zarrbridge/write.h"

namespace zarr3 {

/* Open options, as far as they concern one array. */
struct ArrayOptions {
    std::optional<std::string> dim_x, dim_y; /* names or numbers of dimensions */
    IndexRanges pinned;                      /* the slice that the name asks for, or empty */
    bool update = false;
    bool ome_place = false;      /* the scale of an OME-NGFF image places it */
    bool shows_shards = false;   /* as blocks */
    zb_write_options write = {}; /* for updating */

    /* The dimensions that another array of the same dimensions has for columns and rows. */
    void set_axes(const Axes &axes);
    bool choose_axes(const zb_node *array, NearbyNodes &around, const Pyramid &pyramid, Axes *axes,
                     std::string *reason) const;
};

} // namespace zarr3

class Zarr3Dataset final : public Zarr3NodeDataset {
  public:
    /* Null, with *reason set, when the array cannot be a raster. */
    static std::unique_ptr<Zarr3Dataset> make(const zarr3::Hierarchy &hierarchy,
                                              const zarr3::NodePtr &array,
                                              const zarr3::ArrayOptions &options,
                                              std::string *reason);
    ~Zarr3Dataset() override;

    CPLErr GetGeoTransform(zarr3::GeoTransformOut transform) ZARR3_CONST_SINCE_3_12 override;
    const OGRSpatialReference *GetSpatialRef() const override;

    int GetGCPCount() override;
    const OGRSpatialReference *GetGCPSpatialRef() const override;
    const GDAL_GCP *GetGCPs() override;

    zarr3::MetadataList GetMetadata(const char *domain = "") override;
    const char *GetMetadataItem(const char *name, const char *domain = "") override;
    char **GetMetadataDomainList() override;

    CPLErr SetGeoTransform(zarr3::GeoTransformIn transform) override;
    CPLErr SetSpatialRef(const OGRSpatialReference *srs) override;
    CPLErr SetMetadata(zarr3::MetadataList items, const char *domain = "") override;
    CPLErr SetMetadataItem(const char *name, const char *value, const char *domain = "") override;
    CPLErr CreateMaskBand(int flags) override;
    CPLErr IBuildOverviews(const char *resampling, int count, const int *factors, int band_count,
                           const int *bands, GDALProgressFunc progress, void *progress_data,
                           CSLConstList options) override;
    CPLErr FlushCache(bool at_closing = false) override;
    CPLErr Close(ZARR3_CLOSE_PARAMETERS) override;

    zarr3::Array &array() const {
        return array_;
    }
    const zb_node *node() const override {
        return array_.node();
    }
    const zarr3::Layout &layout() const {
        return layout_;
    }
    zarr3::NoData nodata() const {
        return zarr3::raster_nodata(array_.nodata(), node());
    }

    /* Opened at the first question. */
    const std::vector<Zarr3Dataset *> &overviews() {
        return levels_.list();
    }
    /* As BuildOverviews(), of sizes that the caller chooses. */
    CPLErr make_levels(const char *resampling, const std::vector<zarr3::LevelSize> &sizes,
                       GDALProgressFunc progress, void *progress_data);
    zarr3::RasterLevels &levels() {
        return levels_;
    }

    /* The mask of all bands, which is in the store; opened at the first question. Null where there
       is none, and for masks. */
    Zarr3Dataset *mask() {
        return mask_.get();
    }
    Zarr3Dataset *mask_if_open() const {
        return mask_.opened();
    }

    /* Of a mask: the raster that owns it. */
    Zarr3Dataset *masked() const {
        return masked_;
    }
    bool is_mask() const {
        return masked_ != nullptr;
    }
    void become_mask_of(Zarr3Dataset *raster) {
        masked_ = raster;
        keep_no_sidecar();
    }
    void keep_no_sidecar() {
        nPamFlags |= GPF_NOSAVE;
    }

    const zarr3::Hierarchy &hierarchy() const {
        return hierarchy_;
    }
    zarr3::Pyramid pyramid() const {
        return array_.pyramid();
    }
    /* The slice that is shown, or empty. */
    const zarr3::IndexRanges &pinned() const {
        return pinned_;
    }
    /* For another dataset that shows an array of the same dimensions as this one does. */
    zarr3::ArrayOptions options_of_peer() const;

    const zb_write_options &write_options() const {
        return write_options_;
    }

    zarr3::RasterReader &reader() {
        return reader_;
    }

    /* Writes what the array says now to the levels that were made of it. */
    enum zb_code follow_in_levels(zb_error *err);

    /* Of a level: takes over what the raster that it was made of has, and what its edits say. */
    enum zb_code follow(const Zarr3Dataset &raster, zb_error *err);

    /* Another program, or this one, may have put other levels beside the array. What waits must
       have been flushed. */
    enum zb_code reopen(zb_error *err);

    /* To be called in the program's thread before the first pixel is written, and before blocks
       that wait in GDAL's cache become dirty, which any thread may write. Of programs that change
       blocks in the cache by themselves nobody calls it: Array::write() does what other threads
       must, and flushing the rest. False, with the error reported. */
    bool prepare_first_write();
    bool has_written() const {
        return wrote_;
    }

    /* True if the dataset is open for update. Setters then note in `edits` what they have changed;
       it is written when the dataset is flushed or closed. */
    bool updates() const {
        return array_.is_writable();
    }
    zarr3::Edits edits;

    /* For properties of single bands; false, with an error, when this is but a slice of an array
       that has more of them. */
    bool may_edit_bands() const;
    CPLErr set_nodata(const zarr3::NoData &nodata, const char *text, int band);
    CPLErr delete_nodata();
    /* Of a level: what its raster has, whose it will be in the store. */
    void take_nodata(const zarr3::NoData &nodata) {
        array_.set_nodata(nodata);
    }

    /* The item of a band (from 0) in an attribute that lists one for each of the array's bands;
       NULL without such a list. */
    const zb_json *band_item(const char *name, int band) const;

    /* Read at the first question, because coordinates are needed for it; or set. */
    const zarr3::Georeference &place() const;
    CPLErr place_at(const zarr3::GeoTransform &transform);

    /* To be called before statistics or a histogram are set. They are those of the pixels that have
       been written until now: what waits in GDAL's cache is one of them, and goes to the array
       first. False, with the error reported, when that fails. */
    bool keep_statistics();

    /* Lets the dataset keep side properties, in the store and whatever GDAL_PAM_ENABLED says; to be
       called before it is handed out. */
    void enable_side_properties();

    /* New metadata items are copied from this array, and have its types. */
    void take_types_of(const zarr3::NodePtr &source) {
        item_source_ = source;
    }

    /* The store is this dataset's: it is complete() when the dataset is closed. */
    void complete_at_close(zarr3::Consolidate wish) {
        completes_ = wish;
    }

    /* Nothing that waits will be written. */
    void forget();

    /* For a dataset whose array has just been created from `plan`; with `company` in a hierarchy
       that has others. */
    void set_fresh(const zarr3::NewArray &plan, bool company) {
        array_.begin_fresh(plan, company ? zarr3::name_dimensions : nullptr);
        array_.set_place({}); /* nowhere: what is there already says nothing of a new raster */
        /* Also none: others have left theirs where this one finds it. */
        edits.place = edits.transform = company;
    }

    /* Its group has been made for it. */
    void set_group_is_new() {
        group_is_new_ = true;
    }

    /* Its group, new as it is, cannot be opened by others until something is written, flushed or
       closed. */
    void set_unwritten(const std::string &group) {
        array_.hide(hierarchy_.root, group);
    }

  protected:
    CPLErr IRasterIO(GDALRWFlag mode, int x, int y, int width, int height, void *data,
                     int buffer_width, int buffer_height, GDALDataType type, int band_count,
                     BANDMAP_TYPE bands, GSpacing pixel_space, GSpacing line_space,
                     GSpacing band_space, GDALRasterIOExtraArg *extra) override;

    bool CanBeCloned(int scope, bool share_state) const override;
    std::unique_ptr<GDALDataset> Clone(int scope, bool share_state) const override;

    /* dataset_pam.cpp */
    CPLErr TryLoadXML(CSLConstList siblings = nullptr) override;
    CPLErr XMLInit(const CPLXMLNode *tree, const char *directory) override;
    CPLErr TrySaveXML() override;
    CPLXMLNode *SerializeToXML(const char *unused) override;

  private:
    Zarr3Dataset(const zarr3::Hierarchy &hierarchy, zarr3::Array array,
                 const zarr3::ArrayOptions &options, zarr3::Layout layout);

    void show_geolocation();
    const std::vector<gdal::GCP> &control_points() const;
    /* The place of bands along other dimensions, for programs that know GDAL's netCDF driver. */
    const CPLStringList &dimension_items();
    /* True if the item is one of them, which are the coordinates' and not stored with the array. */
    bool repeats_dimension(const char *name, const char *value);
    void show_attributes();
    void add_band(int number);

    /* dataset_pam.cpp */
    std::vector<uint64_t> numbers_in_array() const;
    zarr3::XmlTree stored_side_properties() const;
    CPLXMLNode *serialize_exactly();
    zarr3::XmlTree own_side_properties();
    void collect_side_properties(zarr3::AttributeChanges *changes);
    void note_side_properties();
    void update_sidecar();
    void forget_statistics();
    void follow_writes();

    /* dataset_update.cpp */
    CPLErr remove_outer_overviews();
    bool empty_fresh_cache();
    void show_nodata(const zarr3::NoData &nodata);
    /* The array will not be created once more. False, with the error reported. */
    bool keep_array();
    enum zb_code commit(zb_error *err);
    enum zb_code drop_stored_statistics(zb_error *err);

    /* What is shown. */
    zarr3::IndexRanges pinned_;
    mutable zarr3::Array array_;
    zarr3::Layout layout_;
    zb_write_options write_options_;

    int nodata_band_ = 0; /* the one for which a nodata value was set last */
    mutable zarr3::BandLists band_lists_;
    zarr3::NodePtr item_source_;
    zarr3::XmlTree known_side_properties_{nullptr}; /* when they were last read or written */
    zarr3::Items known_items_; /* metadata items when they were last read or written */
    bool geolocation_shown_ = false;
    bool ome_place_;
    mutable std::optional<std::vector<gdal::GCP>> control_points_; /* once they were looked for */
    std::optional<CPLStringList> dimension_items_;
    CPLStringList all_items_; /* what GetMetadata() gave out last */

    /* What has happened. */
    bool wrote_ = false;                          /* pixels */
    bool group_is_new_ = false;                   /* and this is its first raster */
    bool statistics_gone_ = false;                /* GDAL has none, and none have been set since */
    std::optional<zarr3::Consolidate> completes_; /* the store, at the end */

    zarr3::RasterReader reader_;
    Zarr3Dataset *masked_ = nullptr; /* of a mask: the raster that owns it */
    zarr3::RasterMask mask_;
    zarr3::RasterLevels levels_;
};

#endif
