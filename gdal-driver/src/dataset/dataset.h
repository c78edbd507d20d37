/* SPDX-License-Identifier: MIT */
/* An array as a raster. */
#ifndef ZARR3_DATASET_H
#define ZARR3_DATASET_H

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "array/array.h"
#include "array/nodata.h"
#include "array/types.h"
#include "dataset/band_lists.h"
#include "dataset/fresh_array.h"
#include "dataset/node_dataset.h"
#include "dataset/raster_reader.h"
#include "dataset/side_properties.h"
#include "geo/georeference.h"
#include "raster/pyramid.h"
#include "store/complete.h"

#include "zarrbridge/write.h"

namespace zarr3 {

/* Open options, as far as they concern one array. NULL where not given. */
struct ArrayOptions {
    const char *dim_x = nullptr;
    const char *dim_y = nullptr;
    IndexRanges pinned; /* the slice that the name asks for, or empty */
    bool update = false;
    zb_write_options write = {}; /* for updating */
};

/* The kinds of properties that a program has changed and that the store does not have yet. */
struct Edits {
    bool place = false;     /* CRS or geotransform */
    bool transform = false; /* the geotransform, which place says, too */
    bool nodata = false;
    bool metadata = false; /* the default domain's items of the dataset */
    bool descriptions = false, units = false, scales = false, colours = false; /* of bands */
    bool band_metadata = false;
    bool side_properties = false; /* side_properties.h */

    bool any() const {
        return place || nodata || metadata || descriptions || units || scales || colours ||
               band_metadata || side_properties;
    }
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
    const zarr3::NoData &nodata() const {
        return nodata_;
    }

    /* The coarser levels of the pyramid that the array belongs to, finest first; opened at the
       first call. Those of a mask are the masks of its raster's levels, as far as all have one. */
    const std::vector<Zarr3Dataset *> &overviews();

    /* The mask of all bands, which is in the store; opened at the first call. Null where there is
       none, and for masks. */
    Zarr3Dataset *mask();
    bool is_mask() const {
        return masked_ != nullptr;
    }

    const zarr3::Hierarchy &hierarchy() const {
        return hierarchy_;
    }
    const zarr3::Pyramid &pyramid() const {
        return pyramid_;
    }
    const zb_write_options &write_options() const {
        return write_options_;
    }

    zarr3::RasterReader &reader() {
        return reader_;
    }

    /* Writes what the array says now to the levels that were made of it. */
    enum zb_code follow_in_levels(zb_error *err);

    /* To be called before the first pixel is written. False, with the error reported. */
    bool prepare_first_write();

    /* To be called before pixels are read. Those of a new array are its nodata value, which may
       have changed since the array was created: then it is made anew. */
    enum zb_code prepare_read(zb_error *err);

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

    /* The item of a band (from 0) in an attribute that lists one for each of the array's bands;
       NULL without such a list. */
    const zb_json *band_item(const char *name, int band) const;

    CPLErr place_at(const zarr3::GeoTransform &transform);

    /* To be called before statistics or a histogram are set. They are those of the pixels that have
       been written until now: what waits in GDAL's cache is one of them, and goes to the array
       first. False, with the error reported, when that fails. */
    bool keep_statistics();

    /* Lets the dataset keep side properties, in the store and whatever GDAL_PAM_ENABLED says; to be
       called before it is handed out. */
    void enable_side_properties();

    /* Overviews are made by this method when the dataset is closed, if pixels have been written. */
    void make_overviews_at_close(const std::string &resampling) {
        overviews_at_close_ = resampling;
    }

    /* The store is this dataset's: it is complete() when the dataset is closed. */
    void complete_at_close(zarr3::Consolidate wish) {
        completes_ = true;
        consolidate_ = wish;
    }

    /* Nothing that waits will be written. */
    void forget();

    /* For a dataset whose array has just been created from `plan`; with `company` in a hierarchy
       that has others. */
    void set_fresh(const zarr3::NewArray &plan, bool company) {
        fresh_.begin(plan, company);
        place_.emplace(); /* nowhere: what is there already says nothing of a new raster */
        /* Also none: others have left theirs where this one finds it. */
        edits.place = edits.transform = company;
    }

    /* Its group, new as it is, cannot be opened by others until something is written, flushed or
       closed. */
    void set_unwritten(const std::string &group) {
        fresh_.hide(hierarchy_.root, group);
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
    CPLErr TrySaveXML() override;
    CPLXMLNode *SerializeToXML(const char *unused) override;

  private:
    Zarr3Dataset(const zarr3::Hierarchy &hierarchy, zarr3::Array array,
                 const zarr3::ArrayOptions &options, zarr3::Layout layout, zarr3::Pyramid pyramid);

    zarr3::Georeference &place() const;
    void show_geolocation();
    void show_attributes();

    /* dataset_mask.cpp */
    std::unique_ptr<Zarr3Dataset> open_mask(const std::string &name, std::string *reason) const;
    zarr3::NewArray plan_of_mask() const;
    enum zb_code create_mask(zb_error *err);

    /* dataset_overviews.cpp */
    void open_levels();
    enum zb_code forget_levels(zb_error *err);
    enum zb_code update_levels(zb_error *err);
    bool flush_levels(bool at_closing);
    bool is_stale_level(const Zarr3Dataset &level) const;
    CPLErr remove_levels();
    CPLErr remove_made_levels(std::vector<std::string> made);
    CPLErr remove_outer_overviews();
    CPLErr make_last_overviews();
    CPLErr build_levels(const char *resampling, const std::vector<int> &factors,
                        GDALProgressFunc progress, void *progress_data);

    /* dataset_pam.cpp */
    std::vector<uint64_t> numbers_in_array() const;
    zarr3::XmlTree stored_side_properties() const;
    CPLXMLNode *serialize_exactly();
    void keep_array_statistics(zarr3::XmlTree *tree) const;
    void collect_side_properties(zarr3::AttributeChanges *changes);
    void update_sidecar();
    void forget_statistics();

    /* dataset_update.cpp */
    bool empty_fresh_cache();
    /* The array as what has been set so far wants it. */
    enum zb_code settle_fresh(zb_error *err);
    /* The array will not be created once more. False, with the error reported. */
    bool keep_array();
    enum zb_code commit(zb_error *err);
    using Items = std::map<std::string, std::string>;
    Items items();
    void collect_metadata(const Items &now, zarr3::AttributeChanges *changes) const;
    void collect_bands(zarr3::AttributeChanges *changes);

    zarr3::IndexRanges pinned_;
    mutable zarr3::Array array_;
    int nodata_band_ = 0; /* the one for which nodata was set last */
    zarr3::FreshArray fresh_;
    bool wrote_ = false;           /* pixels */
    bool statistics_gone_ = false; /* and none have been set since */
    Items known_items_;            /* metadata items when they were last read or written */
    mutable zarr3::BandLists band_lists_;
    zarr3::Layout layout_;
    zarr3::Pyramid pyramid_;
    zarr3::NoData nodata_;
    zarr3::RasterReader reader_;

    /* Found at the first question, because coordinates must be read for it; or set. */
    mutable std::optional<zarr3::Georeference> place_;

    bool geolocation_shown_ = false;

    zb_write_options write_options_;
    bool mask_opened_ = false;
    std::unique_ptr<Zarr3Dataset> mask_;
    Zarr3Dataset *masked_ = nullptr; /* of a mask: the raster that owns it */

    bool levels_opened_ = false;
    std::vector<std::unique_ptr<Zarr3Dataset>> levels_; /* owned; none for masks */
    std::vector<Zarr3Dataset *> overviews_;             /* what overviews() gives */
    std::vector<std::string> stale_levels_;             /* paths of levels that are none any more */
    std::string overviews_at_close_;                    /* a method, or "" */
    bool completes_ = false; /* the store, at the end, with consolidate_ */
    zarr3::Consolidate consolidate_ = zarr3::Consolidate::No;
};

#endif
