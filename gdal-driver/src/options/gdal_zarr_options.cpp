/* SPDX-License-Identifier: MIT */
/*
 * Most of them ask for what this driver does anyway, and are accepted. Others are refused before
 * anything is touched: an array in another form than was asked for, or a store that was replaced
 * although it should have been added to, is worse than none.
 */
#include "options/gdal_zarr_options.h"

#include <vector>

namespace zarr3 {

/* Version 2 is refused, or handed on (multidim/md_create.cpp): GDAL has nothing to warn of. */
const char *const kOwnOptions =
    "  <Option name='FORMAT' type='string-select' default='ZARR_V3' description='Version of Zarr, "
    "as GDAL&apos;s own driver has it'>"
    "    <Value>ZARR_V3</Value><Value>ZARR_V2</Value>"
    "  </Option>"
    "  <Option name='SHARD_CHUNK_SHAPE' type='string' description='As GDAL&apos;s own driver has "
    "it: block in a shard, whose shape is BLOCKSIZE'/>"
    "  <Option name='FILTER' type='string-select' default='NONE' description='As GDAL&apos;s own "
    "driver has it'>"
    "    <Value>NONE</Value>"
    "  </Option>"
    "  <Option name='STRING_FORMAT' type='string' description='Has no meaning for rasters'/>"
    "  <Option name='GEOREFERENCING_CONVENTION' type='string-select' description='All are "
    "written'>"
    "    <Value>GDAL</Value><Value>SPATIAL_PROJ</Value>"
    "  </Option>"
    "  <Option name='SINGLE_ARRAY' type='boolean' default='YES' description='All bands are in one "
    "array'/>"
    "  <Option name='CREATE_ZMETADATA' type='boolean' default='NO' description='As "
    "CREATE_CONSOLIDATED_METADATA'/>"
    "  <Option name='CONVERT_TO_KERCHUNK_PARQUET_REFERENCE' type='boolean' default='NO' "
    "description='Not to be had here'/>"
    "  <Option name='ZSTD_LEVEL' type='int' description='LEVEL where COMPRESS=ZSTD'/>"
    "  <Option name='ZSTD_CHECKSUM' type='boolean' default='NO' description='In the format of "
    "zstd itself; CHECKSUM adds one of Zarr'/>"
    "  <Option name='GZIP_LEVEL' type='int' description='LEVEL where COMPRESS=GZIP'/>"
    "  <Option name='ZLEVEL' type='int' description='LEVEL where COMPRESS=GZIP, as the GeoTIFF "
    "driver "
    "has it'/>"
    "  <Option name='BLOSC_CLEVEL' type='int' description='LEVEL where COMPRESS=BLOSC'/>"
    "  <Option name='BLOSC_BLOCKSIZE' type='int' default='0' description='Bytes; 0: chosen "
    "by blosc'/>"
    "  <Option name='BLOSC_NUM_THREADS' type='string' description='ZARRBRIDGE_NUM_THREADS "
    "counts'/>";

namespace {

/* An option and those of its values that change nothing here (none listed: all), and for the other
   values the advice on what to do instead. */
struct Accepted {
    const char *name;
    std::vector<const char *> values;
    const char *instead;
};

} // namespace

static const Accepted kAccepted[] = {
    {"FORMAT", {"ZARR_V3"}, "this driver writes Zarr version 3; -of Zarr writes version 2"},
    {"FILTER", {"NONE"}, "there are no filters"},
    {"STRING_FORMAT", {}, ""},
    {"GEOREFERENCING_CONVENTION", {"GDAL", "SPATIAL_PROJ"}, "all conventions are written"},
    {"SINGLE_ARRAY",
     {"YES", "TRUE", "ON", "1"},
     "all bands are in one array, which opens as one raster; for an array of each band copy one "
     "after the other: gdal_translate -b 1 -co ARRAY_NAME=Band1, and those behind the first also "
     "with -co APPEND_SUBDATASET=YES"},
    {"CONVERT_TO_KERCHUNK_PARQUET_REFERENCE", {"NO", "FALSE", "OFF", "0"}, "-of Zarr does that"},
    {"BLOSC_NUM_THREADS", {}, ""},
};

static bool drop_accepted(CPLStringList *list, std::string *reason) {
    for (const Accepted &option : kAccepted) {
        const char *value = list->FetchNameValue(option.name);
        if (value == nullptr)
            continue;
        bool accepted = option.values.empty();
        for (const char *allowed : option.values)
            accepted = accepted || EQUAL(value, allowed);
        if (!accepted) {
            *reason = std::string(option.name) + "=" + value + ": " + option.instead;
            return false;
        }
        list->SetNameValue(option.name, nullptr);
    }
    return true;
}

/* They say that nothing is wanted of a compressor, which may be another one. */
static void drop_defaults(CPLStringList *list) {
    const char *checksum = list->FetchNameValue("ZSTD_CHECKSUM");
    if (checksum != nullptr && !CPLTestBool(checksum))
        list->SetNameValue("ZSTD_CHECKSUM", nullptr);
    if (EQUAL(list->FetchNameValueDef("BLOSC_BLOCKSIZE", ""), "0"))
        list->SetNameValue("BLOSC_BLOCKSIZE", nullptr);
}

/* The older name of the same option. */
static void translate_consolidated(CPLStringList *list) {
    const char *older = list->FetchNameValue("CREATE_ZMETADATA");
    if (older != nullptr && list->FetchNameValue("CREATE_CONSOLIDATED_METADATA") == nullptr)
        list->SetNameValue("CREATE_CONSOLIDATED_METADATA", std::string(older).c_str());
    list->SetNameValue("CREATE_ZMETADATA", nullptr);
}

/* There, BLOCKSIZE is the shape of shards where they are asked for. */
static bool translate_shards(CPLStringList *list, std::string *reason) {
    if (list->FetchNameValue("SHARD_CHUNK_SHAPE") == nullptr)
        return true;
    const std::string inner = list->FetchNameValue("SHARD_CHUNK_SHAPE");
    const std::string outer = list->FetchNameValueDef("BLOCKSIZE", "");
    if (outer.empty() || list->FetchNameValue("SHARD") != nullptr) {
        *reason = "SHARD_CHUNK_SHAPE goes with BLOCKSIZE, the shape of shards, and not with SHARD";
        return false;
    }
    list->SetNameValue("SHARD", outer.c_str());
    list->SetNameValue("BLOCKSIZE", inner.c_str());
    list->SetNameValue("SHARD_CHUNK_SHAPE", nullptr);
    return true;
}

bool translate_own_options(CSLConstList list, CPLStringList *ours, std::string *reason) {
    *ours = CPLStringList(CSLDuplicate(list), TRUE);
    drop_defaults(ours);
    translate_consolidated(ours);
    return drop_accepted(ours, reason) && translate_shards(ours, reason);
}

} // namespace zarr3
