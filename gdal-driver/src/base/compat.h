/* SPDX-License-Identifier: MIT */
/*
 * What differs between GDAL 3.10 and 3.13 in the classes that we derive from, in one place.
 *
 * A plugin fits exactly one minor version of GDAL: the C++ ABI changes with each. Nothing else in
 * this directory asks for the version.
 */
#ifndef ZARR3_COMPAT_H
#define ZARR3_COMPAT_H

#include "gdal_pam.h"
#include "gdal_priv.h"

#if GDAL_VERSION_NUM < GDAL_COMPUTE_VERSION(3, 10, 0)
#error "GDAL 3.10 or later is needed"
#endif

namespace zarr3 {

/* 3.12 made the geotransform a class and its getter const. Both forms are indexed alike. */
#if GDAL_VERSION_NUM >= GDAL_COMPUTE_VERSION(3, 12, 0)
using GeoTransformOut = GDALGeoTransform &;
using GeoTransformIn = const GDALGeoTransform &;
#define ZARR3_CONST_SINCE_3_12 const
#else
using GeoTransformOut = double *;
using GeoTransformIn = double *;
#define ZARR3_CONST_SINCE_3_12
#endif

/* 3.13 returns and takes lists as constant, and can report the progress of closing. */
#if GDAL_VERSION_NUM >= GDAL_COMPUTE_VERSION(3, 13, 0)
using MetadataList = CSLConstList;
using OptionList = CSLConstList;
#define ZARR3_CLOSE_PARAMETERS GDALProgressFunc progress, void *progress_data
#define ZARR3_CLOSE_ARGUMENTS progress, progress_data
#define ZARR3_NO_PROGRESS nullptr, nullptr
#else
using MetadataList = char **;
using OptionList = char **;
#define ZARR3_CLOSE_PARAMETERS
#define ZARR3_CLOSE_ARGUMENTS
#define ZARR3_NO_PROGRESS
#endif

/* Calls of GDALMDArray that came later. */
#if GDAL_VERSION_NUM >= GDAL_COMPUTE_VERSION(3, 12, 0)
#define ZARR3_HAS_RAW_BLOCKS
#endif
#if GDAL_VERSION_NUM >= GDAL_COMPUTE_VERSION(3, 13, 0)
#define ZARR3_HAS_MD_OVERVIEWS
#endif

/* GDALRasterBand::MayMultiBlockReadingBeMultiThreaded() */
#if GDAL_VERSION_NUM >= GDAL_COMPUTE_VERSION(3, 13, 0)
#define ZARR3_HAS_THREADS_HINT
#endif

/* GDAL's own driver for Zarr reads kerchunk's references. */
constexpr bool kOwnDriverReadsReferences = GDAL_VERSION_NUM >= GDAL_COMPUTE_VERSION(3, 11, 0);

/* 3.11 brought 16-bit floats; before it they are shown as 32-bit ones. */
#if GDAL_VERSION_NUM >= GDAL_COMPUTE_VERSION(3, 11, 0)
constexpr GDALDataType kFloat16 = GDT_Float16;
constexpr GDALDataType kCFloat16 = GDT_CFloat16;
#define ZARR3_HALF_TYPE_NAMES " Float16 CFloat16"
#else
constexpr GDALDataType kFloat16 = GDT_Float32;
constexpr GDALDataType kCFloat16 = GDT_CFloat32;
#define ZARR3_HALF_TYPE_NAMES ""
#endif

} // namespace zarr3

#endif
