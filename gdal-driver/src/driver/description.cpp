/* SPDX-License-Identifier: MIT */
/* What GDAL knows of the driver before it opens anything: see description.h. */
#include "driver/description.h"

#include "base/compat.h"
#include "base/entry.h"
#include "create/create.h"
#include "create/create_copy.h"
#include "dataset/open.h"
#include "driver/whole_stores.h"
#include "gdalsubdatasetinfo.h"
#include "multidim/md_create.h"
#include "multidim/md_dataset.h"
#include "multidim/new_md_array.h"
#include "options/creation_options.h"
#include "store/location.h"

namespace {

constexpr char kOpenOptions[] =
    "<OpenOptionList>"
    "  <Option name='DIM_X' type='string' description='Name or number (from 0) of the dimension "
    "that holds the columns'/>"
    "  <Option name='DIM_Y' type='string' description='Name or number (from 0) of the dimension "
    "that holds the rows'/>"
    "  <Option name='MULTIBAND' type='boolean' default='YES' description='Show dimensions "
    "besides rows and columns as bands; with NO each slice is a subdataset'/>"
    "  <Option name='LIST_ALL_ARRAYS' type='boolean' default='NO' description='List scalar and "
    "one-dimensional arrays as well'/>"
    "  <Option name='OME_PLACE' type='boolean' default='NO' description='Scale and translation of "
    "an OME-NGFF image are its geotransform'/>"
    "  <Option name='SHOW' type='string-select' default='CHUNKS' description='What GDAL sees as "
    "blocks: the chunks in shards, the unit of decoding, or the shards, the unit of writing'>"
    "    <Value>CHUNKS</Value><Value>SHARDS</Value>"
    "  </Option>"
    "  <Option name='SYNC' type='string-select' default='NONE' description='In update mode, when "
    "data must be safe from a loss of power'>"
    "    <Value>NONE</Value><Value>CLOSE</Value><Value>ALWAYS</Value>"
    "  </Option>"
    "</OpenOptionList>";

constexpr char kCreationTypes[] =
    "Byte Int8 UInt16 Int16 UInt32 Int32 UInt64 Int64 Float32 Float64 CInt16 CInt32 "
    "CFloat32 CFloat64" ZARR3_HALF_TYPE_NAMES;

/* Lets QGIS and the like replace the path in a subdataset's name when a project moves. */
struct Zarr3SubdatasetInfo final : public GDALSubdatasetInfo {
    explicit Zarr3SubdatasetInfo(const std::string &name) : GDALSubdatasetInfo(name) {
    }

    void parseFileName() override {
        const size_t open = strlen("ZARR3:"), close = zarr3::closing_quote(m_fileName);
        if (close == std::string::npos)
            return;
        m_driverPrefixComponent = m_fileName.substr(0, open - 1);
        m_isQuoted = true;
        m_pathComponent = m_fileName.substr(open, close - open + 1);
        if (close + 2 < m_fileName.size())
            m_subdatasetComponent = m_fileName.substr(close + 2);
    }
};

/* Null means that the name is not that of a subdataset; GDAL asks the next driver. */
GDALSubdatasetInfo *subdataset_info(const char *name) {
    if (!zarr3::has_prefix(name))
        return nullptr;
    auto info = std::make_unique<Zarr3SubdatasetInfo>(name);
    if (info->GetSubdatasetComponent().empty())
        return nullptr;
    return info.release();
}

} // namespace

namespace zarr3 {

/* A program that asks for both views gets the multidimensional one, as from GDAL's other
   drivers. */
GDALDataset *open_view(GDALOpenInfo *info) {
    return (info->nOpenFlags & GDAL_OF_MULTIDIM_RASTER) != 0 ? open_multidimensional(info)
                                                             : open(info);
}

GDALDataset *copy_view(const char *name, GDALDataset *source, int strict, OptionList options,
                       GDALProgressFunc progress, void *progress_data) {
    return is_multidimensional(source)
               ? copy_multidimensional(name, source, strict, options, progress, progress_data)
               : create_copy(name, source, strict, options, progress, progress_data);
}

void describe_driver(GDALDriver *driver, const char *name, bool has_suffixes) {
    driver->SetDescription(name);
    if (has_suffixes) /* GDAL looks at what is behind the last point: x.zarr.zip */
        driver->SetMetadataItem(GDAL_DMD_EXTENSIONS, "zarr zip ozx");
    driver->SetMetadataItem(GDAL_DCAP_RASTER, "YES");
    driver->SetMetadataItem(GDAL_DCAP_OPEN, "YES");
    driver->SetMetadataItem(GDAL_DCAP_VIRTUALIO, "YES");
    driver->SetMetadataItem(GDAL_DMD_LONGNAME, "Zarr version 3 (zarrbridge)");
    driver->SetMetadataItem(GDAL_DCAP_CREATE, "YES");
    driver->SetMetadataItem(GDAL_DCAP_CREATECOPY, "YES");
    driver->SetMetadataItem("DCAP_CREATE_SUBDATASETS", "YES"); /* 3.10 has no name for it */
    driver->SetMetadataItem(GDAL_DCAP_COORDINATE_EPOCH, "YES");
    driver->SetMetadataItem(GDAL_DCAP_MULTIDIM_RASTER, "YES");
    driver->SetMetadataItem(GDAL_DCAP_CREATE_MULTIDIMENSIONAL, "YES");
    driver->SetMetadataItem(GDAL_DCAP_CREATECOPY_MULTIDIMENSIONAL, "YES");
    driver->SetMetadataItem(GDAL_DMD_MULTIDIM_DATASET_CREATIONOPTIONLIST, dataset_option_list());
    driver->SetMetadataItem(GDAL_DMD_MULTIDIM_ARRAY_CREATIONOPTIONLIST, array_option_list());
    driver->SetMetadataItem(GDAL_DMD_CREATIONDATATYPES, kCreationTypes);
    driver->SetMetadataItem(GDAL_DMD_CREATIONOPTIONLIST, creation_option_list());
#ifdef GDAL_DCAP_UPDATE
    driver->SetMetadataItem(GDAL_DCAP_UPDATE, "YES");
    driver->SetMetadataItem(GDAL_DMD_UPDATE_ITEMS,
                            "GeoTransform SRS NoData RasterValues DatasetMetadata BandMetadata");
#endif
    driver->SetMetadataItem(GDAL_DMD_CONNECTION_PREFIX, "ZARR3:");
    driver->SetMetadataItem(GDAL_DMD_SUBDATASETS, "YES");
    driver->SetMetadataItem(GDAL_DMD_OPENOPTIONLIST, kOpenOptions);
    driver->pfnIdentify = entry<identify>;
    driver->pfnOpen = entry<open_view>;
    driver->pfnCreate = entry<create>;
    driver->pfnCreateCopy = entry<copy_view>;
    driver->pfnCreateMultiDimensional = entry<create_multidimensional>;
    driver->pfnDelete = entry<delete_dataset>;
    driver->pfnRename = entry<rename_dataset>;
    driver->pfnCopyFiles = entry<copy_dataset>;
    driver->pfnGetSubdatasetInfoFunc = entry<subdataset_info>;
}

} // namespace zarr3
