/* SPDX-License-Identifier: MIT */
/* An array of GDAL's multidimensional API: a second view of Array (array/array.h), beside that as a
   raster with bands. */
#ifndef ZARR3_MD_ARRAY_H
#define ZARR3_MD_ARRAY_H

#include <functional>
#include <optional>

#include "array/array.h"
#include "array/coordinates.h"
#include "array/nodata.h"
#include "cpl_minixml.h"
#include "multidim/attribute_owner.h"
#include "multidim/element_type.h"
#include "multidim/request.h"
#include "multidim/tree.h"
#include "ogr_spatialref.h"
#include "raster/layout.h"
#include "side/xml.h"

class Zarr3Dataset;

namespace zarr3 {

class Zarr3MDArray final : public GDALMDArray, public AttributeOwner {
  public:
    /* Null, with *reason set, where GDAL has no type for the elements. */
    static std::shared_ptr<Zarr3MDArray> make(const std::shared_ptr<Tree> &tree,
                                              const NodePtr &node, std::string *reason);
    ~Zarr3MDArray() override;

    /* It has just been created by the plan, so that its fill value can still be chosen. */
    void set_fresh(const NewArray &plan,
                   const std::vector<std::shared_ptr<GDALDimension>> &dimensions,
                   const zb_write_options &write);

    std::string path() const {
        return array_.path();
    }
    /* The edge of the first cell along a dimension and the step to the next, where the array has a
       place on the map that is not rotated, and the dimension is that of its columns or rows. */
    std::optional<Spacing> edges_along(uint32_t dim) const;
    /* False, with an error reported, while levels have the names. */
    bool may_rename_dimensions() const;
    bool rename_dimension(const GDALDimension *dimension, const std::string &name);
    /* The size of a dimension that has changed, taken over by this array. */
    bool are_sizes(const std::vector<GUInt64> &sizes) const;
    bool find_sharers(size_t d, std::vector<std::shared_ptr<Zarr3MDArray>> *sharers);
    bool resize_along(const GDALDimension *dimension, uint64_t size);
    void moved_to(const std::string &path);

    /* Stores what waits; reports what fails. */
    bool flush();
    void abandon();

    /* AttributeOwner */
    const zb_node *attributes_of() const override {
        return array_.node();
    }
    bool change(const AttributeChanges &changes) override;
    std::string owner_name() const override {
        return m_osFullName;
    }
    bool place_is_carried() const override;
    void note_loss() override {
        tree_->note_loss();
    }

    /* GDALMDArray */
    bool IsWritable() const override {
        return tree_->options().update;
    }
    const std::string &GetFilename() const override {
        return tree_->filename();
    }
    const std::vector<std::shared_ptr<GDALDimension>> &GetDimensions() const override {
        return dimensions_;
    }
    const GDALExtendedDataType &GetDataType() const override {
        return type_->shown();
    }
    std::vector<GUInt64> GetBlockSize() const override;
    CSLConstList GetStructuralInfo() const override;
    std::shared_ptr<GDALGroup> GetRootGroup() const override;

    std::shared_ptr<GDALAttribute> GetAttribute(const std::string &name) const override;
    std::vector<std::shared_ptr<GDALAttribute>> GetAttributes(CSLConstList options) const override;
    std::shared_ptr<GDALAttribute> CreateAttribute(const std::string &name,
                                                   const std::vector<GUInt64> &shape,
                                                   const GDALExtendedDataType &type,
                                                   CSLConstList options) override;
    bool DeleteAttribute(const std::string &name, CSLConstList options) override;

    const std::string &GetUnit() const override;
    bool SetUnit(const std::string &unit) override;
    std::shared_ptr<OGRSpatialReference> GetSpatialRef() const override;
    bool SetSpatialRef(const OGRSpatialReference *srs) override;
    const void *GetRawNoDataValue() const override;
    bool SetRawNoDataValue(const void *value) override;
    double GetOffset(bool *has, GDALDataType *storage) const override;
    double GetScale(bool *has, GDALDataType *storage) const override;
    bool SetOffset(double offset, GDALDataType storage) override;
    bool SetScale(double scale, GDALDataType storage) override;
    std::vector<std::shared_ptr<GDALMDArray>> GetCoordinateVariables() const override;

    CPLErr GetStatistics(bool may_approximate, bool force, double *minimum, double *maximum,
                         double *mean, double *deviation, GUInt64 *count, GDALProgressFunc progress,
                         void *progress_data) override;
    void ClearStatistics() override;

    bool CopyFrom(GDALDataset *dataset, const GDALMDArray *source, bool strict, GUInt64 &cost,
                  const GUInt64 total_cost, GDALProgressFunc progress,
                  void *progress_data) override;
    bool Resize(const std::vector<GUInt64> &sizes, CSLConstList options) override;
    bool Rename(const std::string &name) override;
    void Deleted() override;

#ifdef ZARR3_HAS_RAW_BLOCKS
    bool GetRawBlockInfo(const uint64_t *block, GDALMDArrayRawBlockInfo &info) const override;
#endif
#ifdef ZARR3_HAS_MD_OVERVIEWS
    int GetOverviewCount() const override;
    std::shared_ptr<GDALMDArray> GetOverview(int index) const override;
    CPLErr BuildOverviews(const char *resampling, int count, const int *factors,
                          GDALProgressFunc progress, void *progress_data,
                          CSLConstList options) override;
#endif

  protected:
    bool IRead(const GUInt64 *start, const size_t *count, const GInt64 *step,
               const GPtrDiff_t *stride, const GDALExtendedDataType &type,
               void *data) const override;
    bool IWrite(const GUInt64 *start, const size_t *count, const GInt64 *step,
                const GPtrDiff_t *stride, const GDALExtendedDataType &type,
                const void *data) override;
    bool SetStatistics(bool approximate, double minimum, double maximum, double mean,
                       double deviation, GUInt64 count, CSLConstList options) override;

  private:
    Zarr3MDArray(const std::shared_ptr<Tree> &tree, const NodePtr &node,
                 std::unique_ptr<ElementType> type);
    void make_dimensions();
    void forget_properties();

    bool read_direct(const Request &request, zb_dtype memory, size_t size, void *data) const;
    bool read_converted(const Request &request, const GDALExtendedDataType &type, void *data) const;
    bool write_direct(const Request &request, zb_dtype memory, size_t size, const void *data);
    bool write_converted(const Request &request, const GDALExtendedDataType &type,
                         const void *data);
    std::optional<zb_dtype> direct_memory(const GDALExtendedDataType &type, bool writing) const;
    bool may_change() const;
    bool change_statistics(const std::function<bool(XmlTree *)> &fn);
    bool forget_statistics();
    enum zb_code drop_late_statistics(zb_error *err);
    const std::vector<std::shared_ptr<GDALMDArray>> &levels() const;
    std::unique_ptr<Zarr3Dataset> as_raster(std::string *reason) const;
    bool update_levels();
    bool follow_size(const std::optional<Layout> &before);
    bool drop_foreign_place();
    std::optional<Axes> axes() const;
    std::optional<Layout> raster_layout() const;
    void write_axis();
    double number(const char *name, double usual, bool *has, GDALDataType *storage) const;
    bool set_number(const char *name, double value);
    NoData nodata_of(const void *value) const;
    bool set_text_nodata(const void *value);
    std::shared_ptr<AttributeOwner> self() const;

    std::shared_ptr<Tree> tree_;
    mutable Array array_; /* reading stores what waits */
    std::unique_ptr<ElementType> type_;
    std::vector<std::shared_ptr<GDALDimension>> dimensions_;
    bool made_ = false;    /* created by this object */
    bool changed_ = false; /* attributes, since the levels have been told */
    uint64_t written_ = 0; /* elements, since the last copy into this array began */

    /* Found at the first question. */
    mutable std::optional<std::string> unit_;
    mutable std::optional<std::vector<unsigned char>> nodata_; /* empty: there is none */
    mutable std::string nodata_text_; /* of text, which *nodata_ points to */
    mutable bool located_ = false;
    mutable std::shared_ptr<OGRSpatialReference> srs_;
    mutable CPLStringList structure_;
    mutable std::optional<std::vector<std::shared_ptr<GDALMDArray>>> levels_;
};

} // namespace zarr3

#endif
