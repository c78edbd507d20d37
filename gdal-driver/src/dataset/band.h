/* SPDX-License-Identifier: MIT */
/* One band: a plane of the array. */
#ifndef ZARR3_BAND_H
#define ZARR3_BAND_H

#include "dataset/dataset.h"

class Zarr3RasterBand final : public GDALPamRasterBand {
  public:
    Zarr3RasterBand(Zarr3Dataset *dataset, int number);

    double GetNoDataValue(int *success = nullptr) override;
    int64_t GetNoDataValueAsInt64(int *success = nullptr) override;
    uint64_t GetNoDataValueAsUInt64(int *success = nullptr) override;
    double GetScale(int *success = nullptr) override;
    double GetOffset(int *success = nullptr) override;
    const char *GetUnitType() override;
    GDALColorInterp GetColorInterpretation() override;
    const char *GetDescription() const override;
    char **GetMetadataDomainList() override;
    zarr3::MetadataList GetMetadata(const char *domain = "") override;
    const char *GetMetadataItem(const char *name, const char *domain = "") override;
    int GetOverviewCount() override;
    GDALRasterBand *GetOverview(int index) override;
    GDALRasterBand *GetMaskBand() override;
    int GetMaskFlags() override;
    CPLErr CreateMaskBand(int flags) override;
    bool IsMaskBand() const override;
#ifdef ZARR3_HAS_THREADS_HINT
    bool MayMultiBlockReadingBeMultiThreaded() const override;
#endif
    CPLErr Fill(double real, double imaginary = 0) override;
    CPLErr AdviseRead(int x, int y, int width, int height, int buffer_width, int buffer_height,
                      GDALDataType type, zarr3::OptionList options) override;

    /* GDAL goes through the band for these, block by block. */
    CPLErr ComputeStatistics(int approximate, double *least, double *most, double *mean,
                             double *deviation, GDALProgressFunc progress,
                             void *progress_data) override;
    CPLErr ComputeRasterMinMax(int approximate, double *range) override;
    CPLErr GetHistogram(double least, double most, int buckets, GUIntBig *counts, int with_outside,
                        int approximate, GDALProgressFunc progress, void *progress_data) override;

    /* For datasets open for update; else the values go into GDAL's sidecar file. */
    CPLErr SetNoDataValue(double value) override;
    CPLErr SetNoDataValueAsInt64(int64_t value) override;
    CPLErr SetNoDataValueAsUInt64(uint64_t value) override;
    CPLErr DeleteNoDataValue() override;
    CPLErr SetScale(double value) override;
    CPLErr SetOffset(double value) override;
    CPLErr SetUnitType(const char *unit) override;
    CPLErr SetColorInterpretation(GDALColorInterp colour) override;
    void SetDescription(const char *description) override;
    CPLErr SetMetadata(zarr3::MetadataList items, const char *domain = "") override;
    CPLErr SetMetadataItem(const char *name, const char *value, const char *domain = "") override;
    CPLErr SetDefaultHistogram(double low, double high, int buckets, GUIntBig *counts) override;

    /* The properties of this band alone, from the store and as set since: without the sidecar's and
       without derived ones. */
    std::string own_description() const;
    const CPLStringList &own_metadata();

    /* The nodata value of this band alone, of a new raster whose bands differ in it. The next one
       that is set is for all bands. */
    zarr3::NoData nodata() const;
    void set_own_nodata(const zarr3::NoData &nodata);
    void forget_own_nodata() {
        new_nodata_.reset();
    }

    /* What the store or the program says, a palette of numbers that are no integers, too. */
    GDALColorInterp told_colour();

    void forget_statistics();

    /* True if the store has a description of the band. */
    bool is_described() const;

  protected:
    CPLErr IReadBlock(int x, int y, void *image) override;
    CPLErr IWriteBlock(int x, int y, void *image) override;
    int IGetDataCoverageStatus(int x, int y, int width, int height, int stop,
                               double *percent) override;
    CPLErr IRasterIO(GDALRWFlag mode, int x, int y, int width, int height, void *data,
                     int buffer_width, int buffer_height, GDALDataType type, GSpacing pixel_space,
                     GSpacing line_space, GDALRasterIOExtraArg *extra) override;

  private:
    Zarr3Dataset *owner() const {
        return static_cast<Zarr3Dataset *>(poDS);
    }
    const CPLStringList &position();
    void show_items();
    std::optional<double> number(const char *single, const char *list) const;

    /* Found at the first question, or set. */
    mutable std::optional<std::string> description_, unit_;
    std::optional<CPLStringList> own_metadata_;
    std::optional<CPLStringList> position_; /* along the extra dimensions, as items */
    bool shown_ = false;                    /* metadata_ is complete */
    zarr3::MetadataDomains metadata_;

    /* Set since the dataset was opened. */
    std::optional<std::string> new_description_;
    std::optional<double> new_scale_, new_offset_;
    std::optional<GDALColorInterp> new_colour_;
    std::optional<zarr3::NoData> new_nodata_;
};

#endif
