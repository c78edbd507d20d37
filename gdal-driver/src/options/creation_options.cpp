/* SPDX-License-Identifier: MIT */
/*
 * GDAL compares options with the declared list before we see them, but only warns. An option that
 * would give another array than was asked for is an error here; of unknown options GDAL warns, and
 * this says which there are.
 */
#include "options/creation_options.h"

#include <algorithm>
#include <climits>

#include "base/json_text.h"
#include "options/gdal_zarr_options.h"
#include "options/option_names.h"

#include "zarrbridge/write.h"

namespace zarr3 {

static const char kOptions[] =
    "  <Option name='COMPRESS' type='string-select' default='ZSTD' description='Compression of "
    "blocks'>"
    "    <Value>NONE</Value><Value>ZSTD</Value><Value>GZIP</Value><Value>BLOSC</Value>"
    "    <Value>DEFLATE</Value>"
    "  </Option>"
    "  <Option name='PREDICTOR' type='string-select' description='2, 3, STANDARD, FLOATING_POINT "
    "and YES sort the bytes of elements by significance (shuffle) before ZSTD, GZIP or DEFLATE, in "
    "the form of blosc; 1 and NO do not. Floats are sorted unless COMPRESS or a level is given. "
    "DELTA "
    "stores differences, which fewer programs read'>"
    "    <Value>1</Value><Value>2</Value><Value>3</Value><Value>NO</Value><Value>YES</Value>"
    "    <Value>STANDARD</Value><Value>FLOATING_POINT</Value><Value>DELTA</Value>"
    "  </Option>"
    "  <Option name='LEVEL' type='int' description='Compression level: ZSTD 0 to 22 (3), GZIP 1 to "
    "9 (6), BLOSC 0 to 9 (5)'/>"
    "  <Option name='BLOSC_CNAME' type='string-select' default='LZ4' description='Compressor "
    "inside blosc'>"
    "    <Value>BLOSCLZ</Value><Value>LZ4</Value><Value>LZ4HC</Value><Value>ZLIB</Value>"
    "    <Value>ZSTD</Value>"
    "  </Option>"
    "  <Option name='BLOSC_SHUFFLE' type='string-select' default='BYTE' description='Shuffle "
    "inside blosc'>"
    "    <Value>NONE</Value><Value>BYTE</Value><Value>BIT</Value>"
    "  </Option>"
    "  <Option name='CODECS' type='string' description='The codecs of blocks as a JSON list, in "
    "place of COMPRESS and its options: [\"numcodecs.shuffle\", \"numcodecs.lz4\"]'/>"
    "  <Option name='CHECKSUM' type='boolean' default='NO' description='Add a CRC32C to each "
    "block'/>"
    "  <Option name='BLOCKSIZE' type='string' description='Block: WIDTHxHEIGHT, or the "
    "array&apos;s order ROWS,COLUMNS or one number for each dimension, or a list of numbers like "
    "[31,28,31] in place of a number'/>"
    "  <Option name='BLOCKXSIZE' type='int' description='Width of a block'/>"
    "  <Option name='BLOCKYSIZE' type='int' description='Height of a block'/>"
    "  <Option name='TILED' type='boolean' default='YES' description='Rasters always have "
    "blocks'/>"
    "  <Option name='SHARD' type='string' default='AUTO' description='Shard, in multiples of the "
    "block, written as BLOCKSIZE; AUTO (32 to 64 MiB for rasters above 256 MiB) or OFF'/>"
    "  <Option name='INTERLEAVE' type='string-select' default='BAND' description='Order of the "
    "dimensions: bands first or bands last'>"
    "    <Value>BAND</Value><Value>PIXEL</Value>"
    "  </Option>"
    "  <Option name='PHOTOMETRIC' type='string-select' description='Colours of the first bands'>"
    "    <Value>MINISBLACK</Value><Value>RGB</Value><Value>YCBCR</Value><Value>CMYK</Value>"
    "    <Value>PALETTE</Value>"
    "  </Option>"
    "  <Option name='ALPHA' type='string-select' description='Whether the band behind the colours "
    "is alpha'>"
    "    <Value>NO</Value><Value>YES</Value><Value>UNSPECIFIED</Value>"
    "    <Value>NON-PREMULTIPLIED</Value>"
    "  </Option>"
    "  <Option name='ARRAY_NAME' type='string' description='Name of the array in its group "
    "(default: the name of the file)'/>"
    "  <Option name='DIM_SEPARATOR' type='string-select' default='/' description='Separator in the "
    "keys of chunks'>"
    "    <Value>/</Value><Value>.</Value>"
    "  </Option>"
    "  <Option name='CHUNK_KEY_ENCODING' type='string' default='DEFAULT' description='Form of the "
    "keys of chunks: DEFAULT (c/0/1), V2 (0.1), or the JSON object of the metadata'/>"
    "  <Option name='CHUNK_MEMORY_LAYOUT' type='string-select' default='C' description='Order of "
    "elements in blocks: F puts the first dimension last, by a transpose'>"
    "    <Value>C</Value><Value>F</Value>"
    "  </Option>"
    "  <Option name='STORE_EMPTY' type='boolean' default='NO' description='Store blocks that hold "
    "nothing but the fill value, too'/>"
    "  <Option name='SYNC' type='string-select' default='NONE' description='When data must be safe "
    "from a loss of power'>"
    "    <Value>NONE</Value><Value>CLOSE</Value><Value>ALWAYS</Value>"
    "  </Option>"
    "  <Option name='OVERVIEWS' type='string-select' default='NONE' description='Make overviews in "
    "the store, of half the size each, until one fits into 512 x 512'>"
    "    <Value>NONE</Value><Value>AUTO</Value>"
    "  </Option>"
    "  <Option name='OVERVIEW_RESAMPLING' type='string-select' default='NEAREST' "
    "description='Method for OVERVIEWS=AUTO'>"
    "    <Value>NEAREST</Value><Value>AVERAGE</Value><Value>BILINEAR</Value><Value>CUBIC</Value>"
    "    <Value>CUBICSPLINE</Value><Value>LANCZOS</Value><Value>MODE</Value><Value>RMS</Value>"
    "    <Value>GAUSS</Value>"
    "  </Option>"
    "  <Option name='OVERVIEW_LAYOUT' type='string-select' default='BESIDE' description='Where "
    "overviews lie, also those that are made later: in groups beside the raster (ovr_2x/NAME), or "
    "GROUPS: each level in a group, the raster, too (0/NAME, 1/NAME), as "
    "xarray.open_datatree() reads them'>"
    "    <Value>BESIDE</Value><Value>GROUPS</Value>"
    "  </Option>"
    "  <Option name='COPY_SRC_OVERVIEWS' type='boolean' default='NO' description='Copy the "
    "overviews of the source'/>"
    "  <Option name='APPEND_SUBDATASET' type='boolean' default='NO' description='Add the array "
    "ARRAY_NAME to the store that is there'/>"
    "  <Option name='CREATE_CONSOLIDATED_METADATA' type='boolean' default='YES' description='Put "
    "the metadata of all arrays into the root&apos;s, for readers that cannot list the store (web "
    "servers); what is added to a store leaves it as it is unless this is given'/>";

const char *creation_option_list() {
    static const std::string list =
        std::string("<CreationOptionList>") + kOptions + kOwnOptions + "</CreationOptionList>";
    return list.c_str();
}

/* The index of an option's value among those allowed; -1, with *reason set, when it is none of
   them. Not given: 0. */
static int choose(CSLConstList list, const char *name, const std::vector<const char *> &allowed,
                  std::string *reason) {
    const char *value = CSLFetchNameValue(list, name);
    if (value == nullptr)
        return 0;
    std::string names;
    for (size_t i = 0; i < allowed.size(); i++) {
        if (EQUAL(value, allowed[i]))
            return static_cast<int>(i);
        if (allowed[i][0] != '\0')
            names += (names.empty() ? "" : ", ") + std::string(allowed[i]);
    }
    *reason = std::string(name) + "=" + value + " is none of " + names;
    return -1;
}

static bool parse_flag(CSLConstList list, const char *name, bool *flag, std::string *reason) {
    const int chosen =
        choose(list, name, {"NO", "YES", "OFF", "ON", "FALSE", "TRUE", "0", "1"}, reason);
    *flag = chosen % 2 == 1;
    return chosen >= 0;
}

/* A whole number within bounds. */
static bool parse_number(const std::string &what, const std::string &text, uint64_t lowest,
                         uint64_t highest, uint64_t *number, std::string *reason) {
    const bool digits =
        !text.empty() && text.size() <= 10 &&
        std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    *number = digits ? std::strtoull(text.c_str(), nullptr, 10) : 0;
    if (digits && *number >= lowest && *number <= highest)
        return true;
    *reason = what + " is '" + text + "', expected a number from " + std::to_string(lowest) +
              " to " + std::to_string(highest);
    return false;
}

/* The names that other drivers have for LEVEL, and the compressor of each. */
static constexpr const char *kLevelNames[][2] = {
    {"ZSTD_LEVEL", "ZSTD"}, {"GZIP_LEVEL", "GZIP"}, {"ZLEVEL", "GZIP"}, {"BLOSC_CLEVEL", "BLOSC"}};

/* The option that counts, LEVEL before the others; nullptr: none. Programs hand on the levels of
   other compressors from the file that the pixels come from, so that these are no errors. */
static const char *level_option(CSLConstList list, const char *compressor) {
    const char *counts = CSLFetchNameValue(list, "LEVEL") != nullptr ? "LEVEL" : nullptr;
    for (const auto &[name, owner] : kLevelNames) {
        const char *value = CSLFetchNameValue(list, name);
        if (value == nullptr)
            continue;
        if (!EQUAL(owner, compressor))
            CPLError(CE_Warning, CPLE_AppDefined, "%s has no effect without COMPRESS=%s", name,
                     owner);
        else if (counts == nullptr)
            counts = name;
        else if (!EQUAL(value, CSLFetchNameValue(list, counts)))
            CPLError(CE_Warning, CPLE_AppDefined, "%s=%s is taken, and not %s", counts,
                     CSLFetchNameValue(list, counts), name);
    }
    return counts;
}

static bool parse_level(CSLConstList list, const char *compressor, uint64_t lowest,
                        uint64_t highest, uint64_t *level, std::string *reason) {
    const char *name = level_option(list, compressor);
    return name == nullptr ||
           parse_number(name, CSLFetchNameValue(list, name), lowest, highest, level, reason);
}

/* "256x512" is width and height, as everywhere in GDAL; with commas it is the order of the array's
   dimensions, as GDAL's own Zarr driver has it. A number alone is for one dimension. */
static bool parse_extents(const char *name, const char *text, std::vector<uint64_t> *extents,
                          ChunkRuns *runs, std::string *reason) {
    if (strchr(text, '[') != nullptr)
        return parse_extent_lists(name, text, extents, runs, reason);
    const bool by_size = strchr(text, 'x') != nullptr || strchr(text, 'X') != nullptr;
    const CPLStringList parts(
        CSLTokenizeString2(text, by_size ? "xX" : ",", CSLT_ALLOWEMPTYTOKENS));
    const bool is_line = !by_size && CPLGetValueType(text) == CPL_VALUE_INTEGER;
    if (!is_line && (parts.size() < 2 || (by_size && parts.size() > 2))) {
        *reason =
            std::string(name) + "=" + text + " is not of the form WIDTHxHEIGHT or ROWS,COLUMNS";
        return false;
    }
    for (int i = 0; i < parts.size(); i++) {
        uint64_t extent;
        if (!parse_number(name, parts[i], 1, INT_MAX, &extent, reason))
            return false;
        extents->push_back(extent);
    }
    if (by_size)
        std::swap((*extents)[0], (*extents)[1]);
    return true;
}

/* Programs hand on the blocks of their source (rasterio's profiles, rioxarray), beside what the
   user asked for in this driver's own words: those count. */
static bool parse_block(CSLConstList list, CreationOptions *options, std::string *reason) {
    const char *both = CSLFetchNameValue(list, "BLOCKSIZE");
    const char *x = CSLFetchNameValue(list, "BLOCKXSIZE");
    const char *y = CSLFetchNameValue(list, "BLOCKYSIZE");
    bool tiled;
    if (!parse_flag(list, "TILED", &tiled, reason))
        return false;
    if (CSLFetchNameValue(list, "TILED") != nullptr && !tiled && both == nullptr && x == nullptr)
        CPLError(CE_Warning, CPLE_AppDefined,
                 "TILED=NO: the raster has blocks; give its width as BLOCKXSIZE for whole rows");
    if (both != nullptr && (x != nullptr || y != nullptr))
        CPLError(CE_Warning, CPLE_AppDefined,
                 "BLOCKSIZE=%s is taken, and not BLOCKXSIZE and BLOCKYSIZE", both);
    if (both != nullptr)
        return parse_extents("BLOCKSIZE", both, &options->block, &options->block_runs, reason);
    if (x == nullptr && y == nullptr)
        return true;
    uint64_t width = 512, height = 512;
    if ((x != nullptr && !parse_number("BLOCKXSIZE", x, 1, INT_MAX, &width, reason)) ||
        (y != nullptr && !parse_number("BLOCKYSIZE", y, 1, INT_MAX, &height, reason)))
        return false;
    options->block = {height, width};
    return true;
}

static bool parse_shard(CSLConstList list, CreationOptions *options, std::string *reason) {
    const char *text = CSLFetchNameValueDef(list, "SHARD", "AUTO");
    if (EQUAL(text, "AUTO"))
        return true;
    if (EQUAL(text, "OFF") || EQUAL(text, "NO") || EQUAL(text, "NONE")) {
        options->sharding = Sharding::Off;
        return true;
    }
    options->sharding = Sharding::Given;
    return parse_extents("SHARD", text, &options->shard, &options->shard_runs, reason);
}

static std::string codec(const char *name, const std::string &configuration) {
    return std::string("{\"name\":\"") + name + "\"" +
           (configuration.empty() ? "" : ",\"configuration\":{" + configuration + "}") + "}";
}

static bool parse_blosc(CSLConstList list, std::string *text, std::string *reason) {
    static const std::vector<const char *> kNames = {"LZ4", "BLOSCLZ", "LZ4HC", "ZLIB", "ZSTD"};
    static const char *const kZarrNames[] = {"lz4", "blosclz", "lz4hc", "zlib", "zstd"};
    static const char *const kZarrShuffles[] = {"shuffle", "noshuffle", "bitshuffle"};
    uint64_t level = 5, block = 0;
    const int name = choose(list, "BLOSC_CNAME", kNames, reason);
    const char *given = CSLFetchNameValue(list, "BLOSC_BLOCKSIZE");
    const int shuffle =
        name < 0 ? -1 : choose(list, "BLOSC_SHUFFLE", {"BYTE", "NONE", "BIT"}, reason);
    if (shuffle < 0 || !parse_level(list, "BLOSC", 0, 9, &level, reason) ||
        (given != nullptr && !parse_number("BLOSC_BLOCKSIZE", given, 0, INT_MAX, &block, reason)))
        return false;
    *text = codec("blosc", "\"cname\":\"" + std::string(kZarrNames[name]) +
                               "\",\"clevel\":" + std::to_string(level) + ",\"shuffle\":\"" +
                               kZarrShuffles[shuffle] + "\"" +
                               (block == 0 ? "" : ",\"blocksize\":" + std::to_string(block)));
    return true;
}

static bool parse_zstd(CSLConstList list, std::string *text, std::string *reason) {
    uint64_t level = 3;
    bool checksum;
    if (!parse_level(list, "ZSTD", 0, 22, &level, reason) || /* 0 is zstd's own default, 3 */
        !parse_flag(list, "ZSTD_CHECKSUM", &checksum, reason))
        return false;
    *text = codec("zstd", "\"level\":" + std::to_string(level) +
                              ",\"checksum\":" + (checksum ? "true" : "false"));
    return true;
}

/* Options of a compressor need it. */
static bool goes_with(CSLConstList list, const char *compressor, std::string *reason) {
    static constexpr const char *kOwners[][2] = {{"BLOSC_CNAME", "BLOSC"},
                                                 {"BLOSC_SHUFFLE", "BLOSC"},
                                                 {"BLOSC_BLOCKSIZE", "BLOSC"},
                                                 {"ZSTD_CHECKSUM", "ZSTD"}};
    for (const auto &[name, owner] : kOwners) {
        if (CSLFetchNameValue(list, name) != nullptr && !EQUAL(owner, compressor)) {
            *reason = std::string(name) + " needs COMPRESS=" + owner;
            return false;
        }
    }
    return true;
}

/* The list goes to the core as it is, which checks it. */
static bool parse_codecs(CSLConstList list, const char *codecs, CreationOptions *options,
                         std::string *reason) {
    std::vector<const char *> others = {"COMPRESS",      "LEVEL",           "BLOSC_CNAME",
                                        "BLOSC_SHUFFLE", "BLOSC_BLOCKSIZE", "ZSTD_CHECKSUM",
                                        "CHECKSUM"};
    for (const auto &[name, compressor] : kLevelNames)
        others.push_back(name);
    for (const char *other : others) {
        if (CSLFetchNameValue(list, other) != nullptr) {
            *reason = std::string(other) + " and CODECS exclude each other";
            return false;
        }
    }
    if (CSLFetchNameValue(list, "PREDICTOR") != nullptr)
        CPLError(CE_Warning, CPLE_AppDefined, "PREDICTOR has no effect with CODECS");
    options->codecs = codecs;
    return true;
}

static bool parse_gzip(CSLConstList list, std::string *text, std::string *reason) {
    uint64_t level = 6;
    if (!parse_level(list, "GZIP", 1, 9, &level, reason))
        return false;
    *text = codec("gzip", "\"level\":" + std::to_string(level));
    return true;
}

/* Compressors of GDAL's other drivers, and the nearest one here. Profiles of rasters hand them on.
   All of ours are lossless. */
static constexpr const char *kNearest[][2] = {
    {"LZW", "ZSTD"},       {"PACKBITS", "ZSTD"},  {"LZMA", "ZSTD"},
    {"LERC", "ZSTD"},      {"LERC_ZSTD", "ZSTD"}, {"JPEG", "ZSTD"},
    {"WEBP", "ZSTD"},      {"JXL", "ZSTD"},       {"CCITTRLE", "ZSTD"},
    {"CCITTFAX3", "ZSTD"}, {"CCITTFAX4", "ZSTD"}, {"LERC_DEFLATE", "DEFLATE"}};

static CPLStringList with_nearest(CSLConstList given) {
    CPLStringList list(CSLDuplicate(given), TRUE);
    const std::string asked = list.FetchNameValueDef("COMPRESS", "");
    for (const auto &[name, nearest] : kNearest) {
        if (!EQUAL(asked.c_str(), name))
            continue;
        CPLError(CE_Warning, CPLE_AppDefined,
                 "COMPRESS=%s cannot be had in a Zarr store: COMPRESS=%s, which loses nothing, is "
                 "taken",
                 name, nearest);
        list.SetNameValue("COMPRESS", nearest);
    }
    return list;
}

/* What PREDICTOR asks for, or the default. */
static bool choose_predictor(CSLConstList list, bool has_level, CreationOptions *options,
                             std::string *reason) {
    static const std::vector<const char *> kNames = {"",    "2", "3",  "STANDARD", "FLOATING_POINT",
                                                     "YES", "1", "NO", "DELTA"};
    const int chosen = choose(list, "PREDICTOR", kNames, reason);
    const bool is_default = chosen == 0 && !has_level &&
                            CSLFetchNameValue(list, "COMPRESS") == nullptr &&
                            CSLFetchNameValue(list, "ZSTD_CHECKSUM") == nullptr;
    const bool is_blosc = options->compressor == "blosc"; /* which sorts by BLOSC_SHUFFLE */
    if (is_default)
        options->predictor = Predictor::Auto;
    else if (chosen > 0 && chosen != 6 && chosen != 7)
        options->predictor = chosen == 8 ? Predictor::Delta : Predictor::Shuffle;
    if (options->predictor != Predictor::None && options->compressor->empty()) {
        CPLError(CE_Warning, CPLE_AppDefined, "PREDICTOR has no effect with COMPRESS=NONE");
        options->predictor = Predictor::None;
    }
    if (options->predictor == Predictor::Shuffle && is_blosc)
        options->predictor = Predictor::None;
    return chosen >= 0;
}

/* The same compression with blosc, which every reader knows: it sorts bytes and compresses by zstd
   or zlib. Its levels of zstd are half as many. Blocks of 256 KiB are read one by one. Differences
   of floats are smallest with sorted bits: those that repeat the sign are equal, and lie farther
   apart than zlib looks. */
static bool parse_predictor(CSLConstList list, CreationOptions *options, std::string *text,
                            std::string *reason) {
    const bool is_zstd = options->compressor == "zstd", is_gzip = options->compressor == "gzip";
    const char *given = CSLFetchNameValue(list, "LEVEL"); /* checked already */
    for (const auto &[name, owner] : kLevelNames) {
        const bool is_ours = is_zstd ? EQUAL(owner, "ZSTD") : EQUAL(owner, "GZIP");
        given = given == nullptr && is_ours ? CSLFetchNameValue(list, name) : given;
    }
    if (!choose_predictor(list, given != nullptr, options, reason))
        return false;
    if (options->predictor == Predictor::None || !(is_zstd || is_gzip))
        return true;
    if (options->predictor != Predictor::Auto && CPLFetchBool(list, "ZSTD_CHECKSUM", false)) {
        *reason = "blosc, which PREDICTOR takes, has no ZSTD_CHECKSUM; CHECKSUM=YES goes with it";
        return false;
    }
    uint64_t level = given != nullptr ? std::strtoull(given, nullptr, 10) : is_zstd ? 3 : 6;
    if (is_zstd)
        level = level == 0 ? 2 : std::min<uint64_t>((level + 1) / 2, 9);
    const bool by_bits = is_zstd && options->predictor == Predictor::Delta;
    *text = codec("blosc", std::string("\"cname\":\"") + (is_zstd ? "zstd" : "zlib") +
                               "\",\"clevel\":" + std::to_string(level) + ",\"shuffle\":\"" +
                               (by_bits ? "bitshuffle" : "shuffle") + "\",\"blocksize\":262144");
    return true;
}

/* "" for none. Gzip is the form in which Zarr has DEFLATE. */
static bool parse_compressor(CSLConstList list, CreationOptions *options, std::string *text,
                             std::string *reason) {
    static const std::vector<const char *> kCompressors = {"ZSTD", "NONE", "GZIP", "BLOSC",
                                                           "DEFLATE"};
    const int compress = choose(list, "COMPRESS", kCompressors, reason);
    if (compress < 0 || !goes_with(list, kCompressors[static_cast<size_t>(compress)], reason))
        return false;
    static const char *const kCodecs[] = {"zstd", "", "gzip", "blosc", "gzip"};
    options->compressor = kCodecs[compress];
    if (compress == 0)
        return parse_zstd(list, text, reason);
    if (compress == 2 || compress == 4)
        return parse_gzip(list, text, reason);
    if (compress == 3)
        return parse_blosc(list, text, reason);
    text->clear();
    if (level_option(list, "NONE") == nullptr)
        return true;
    *reason = "LEVEL has no meaning with COMPRESS=NONE";
    return false;
}

static std::string codec_list(const std::string &compressor, bool checksum) {
    std::vector<std::string> codecs;
    if (!compressor.empty())
        codecs.push_back(compressor);
    if (checksum)
        codecs.push_back(codec("crc32c", ""));
    return json_list(codecs);
}

static bool parse_compression(CSLConstList given, CreationOptions *options, std::string *reason) {
    if (const char *codecs = CSLFetchNameValue(given, "CODECS"))
        return parse_codecs(given, codecs, options, reason);
    const CPLStringList list = with_nearest(given);
    std::string compressor, sorted;
    bool checksum;
    if (!parse_compressor(list.List(), options, &compressor, reason) ||
        !parse_predictor(list.List(), options, &sorted, reason) ||
        !parse_flag(list.List(), "CHECKSUM", &checksum, reason))
        return false;
    options->codecs = codec_list(compressor, checksum);
    if (!sorted.empty())
        options->sorted_codecs = codec_list(sorted, checksum);
    return true;
}

bool parse_sync(CSLConstList list, zb_write_options *write, std::string *reason) {
    const int sync = choose(list, "SYNC", {"NONE", "CLOSE", "ALWAYS"}, reason);
    write->sync = sync == 2 ? ZB_SYNC_ALWAYS : sync == 1 ? ZB_SYNC_CLOSE : ZB_SYNC_NONE;
    return sync >= 0;
}

/* Options without a meaning here: programs hand them on from the profile of another raster, and
   GDAL to each driver. Those of GeoTIFFs say how a file holds the pixels and their place, or are of
   a compressor that COMPRESS cannot be. Not among them are options that would change the pixels
   (NBITS, DISCARD_LSB, PIXELTYPE) or add to what is stored (SOURCE_ICC_PROFILE). */
static const char kHarmless[] =
    " BIGTIFF SPARSE_OK ENDIANNESS STREAMABLE_OUTPUT NUM_THREADS COPY_SRC_MDD SRC_MDD SKIP_HOLES "
    "PROFILE GEOTIFF_VERSION GEOTIFF_KEYS_FLAVOR TFW RPB RPCTXT COLOR_TABLE_MULTIPLIER "
    "LZMA_PRESET JPEG_QUALITY JPEGTABLESMODE WEBP_LEVEL WEBP_LOSSLESS MAX_Z_ERROR "
    "MAX_Z_ERROR_OVERVIEW JXL_LOSSLESS JXL_EFFORT JXL_DISTANCE JXL_ALPHA_DISTANCE ";

static bool is_harmless(const std::string &name) {
    return name[0] == '@' || name[0] == '_' ||
           strstr(kHarmless, (" " + CPLString(name).toupper() + " ").c_str()) != nullptr;
}

static std::string first_unknown(CSLConstList list) {
    for (; list != nullptr && *list != nullptr; list++) {
        const std::string item = *list, name = item.substr(0, item.find_first_of("=:"));
        if (!is_harmless(name) && !declares_option(creation_option_list(), name))
            return name;
    }
    return {};
}

static bool parse_overviews(CSLConstList list, CreationOptions *options, std::string *reason) {
    static const std::vector<const char *> kMethods = {"NEAREST", "AVERAGE",     "BILINEAR",
                                                       "CUBIC",   "CUBICSPLINE", "LANCZOS",
                                                       "MODE",    "RMS",         "GAUSS"};
    const int automatic = choose(list, "OVERVIEWS", {"NONE", "AUTO"}, reason);
    const int method = automatic < 0 ? -1 : choose(list, "OVERVIEW_RESAMPLING", kMethods, reason);
    const int form =
        method < 0 ? -1 : choose(list, "OVERVIEW_LAYOUT", {"BESIDE", "GROUPS"}, reason);
    if (form < 0 || !parse_flag(list, "COPY_SRC_OVERVIEWS", &options->copy_overviews, reason))
        return false;
    options->level_groups = form == 1;
    options->make_overviews = automatic == 1;
    options->resampling = kMethods[static_cast<size_t>(method)];
    if (options->make_overviews && options->copy_overviews)
        *reason = "OVERVIEWS=AUTO and COPY_SRC_OVERVIEWS=YES exclude each other";
    return !(options->make_overviews && options->copy_overviews);
}

/* The keys of version 2 have points unless DIM_SEPARATOR says otherwise. */
static bool parse_keys(CSLConstList list, CreationOptions *options, std::string *reason) {
    const char *given = CSLFetchNameValueDef(list, "CHUNK_KEY_ENCODING", "DEFAULT");
    const char *separator = CSLFetchNameValue(list, "DIM_SEPARATOR");
    const bool is_json = given[0] == '{';
    if (is_json && separator != nullptr)
        *reason = "DIM_SEPARATOR and the object CHUNK_KEY_ENCODING exclude each other";
    else if (!is_json && !EQUAL(given, "DEFAULT") && !EQUAL(given, "V2"))
        *reason = std::string("CHUNK_KEY_ENCODING=") + given +
                  " is none of DEFAULT, V2 and a JSON object";
    if (!reason->empty())
        return false;
    const int chosen = choose(list, "DIM_SEPARATOR", {"/", "."}, reason);
    options->separator = chosen == 1 ? '.' : '/';
    if (is_json)
        options->key_encoding = given;
    else if (EQUAL(given, "V2"))
        options->key_encoding =
            std::string("{\"name\":\"v2\",\"configuration\":{\"separator\":\"") +
            (separator == nullptr ? "." : separator) + "\"}}";
    return chosen >= 0;
}

/* A whole pipeline has transposes of its own. */
static bool parse_order(CSLConstList list, CreationOptions *options, std::string *reason) {
    const int order = choose(list, "CHUNK_MEMORY_LAYOUT", {"C", "F"}, reason);
    options->fortran_order = order == 1;
    if (options->fortran_order && CSLFetchNameValue(list, "CODECS") != nullptr) {
        *reason = "CHUNK_MEMORY_LAYOUT=F and CODECS exclude each other; CODECS may begin with a "
                  "transpose";
        return false;
    }
    return order >= 0;
}

/* YCBCR is a way in which files hold red, green and blue. */
static bool parse_colours(CSLConstList list, CreationOptions *options, std::string *reason) {
    static const std::vector<const char *> kNames = {"MINISBLACK", "RGB", "YCBCR", "CMYK",
                                                     "PALETTE"};
    static const std::vector<GDALColorInterp> kColours[] = {
        {GCI_GrayIndex},
        {GCI_RedBand, GCI_GreenBand, GCI_BlueBand},
        {GCI_RedBand, GCI_GreenBand, GCI_BlueBand},
        {GCI_CyanBand, GCI_MagentaBand, GCI_YellowBand, GCI_BlackBand},
        {GCI_PaletteIndex}};
    const int colours = choose(list, "PHOTOMETRIC", kNames, reason);
    const int alpha = colours < 0 ? -1
                                  : choose(list, "ALPHA",
                                           {"NO", "YES", "UNSPECIFIED", "NON-PREMULTIPLIED",
                                            "FALSE", "TRUE", "OFF", "ON", "0", "1"},
                                           reason);
    if (alpha < 0)
        return false;
    if (CSLFetchNameValue(list, "PHOTOMETRIC") != nullptr)
        options->colours = kColours[colours];
    if (CSLFetchNameValue(list, "ALPHA") != nullptr)
        options->alpha = alpha % 2 == 1;
    return true;
}

static bool parse_consolidated(CSLConstList list, CreationOptions *options, std::string *reason) {
    constexpr char name[] = "CREATE_CONSOLIDATED_METADATA";
    bool given = false;
    if (!parse_flag(list, name, &given, reason))
        return false;
    if (CSLFetchNameValue(list, name) != nullptr)
        options->consolidated = given;
    return true;
}

bool check_for_arrays(const CreationOptions &options, std::string *reason) {
    if (!options.colours.empty() || options.alpha)
        *reason = "PHOTOMETRIC and ALPHA are for rasters, which have bands";
    else if (options.pixel_interleave)
        *reason = "INTERLEAVE=PIXEL is for rasters; arrays have the order of their dimensions";
    else if (options.make_overviews || options.copy_overviews)
        *reason = "OVERVIEWS and COPY_SRC_OVERVIEWS are for rasters; make those of an array by "
                  "gdaladdo or BuildOverviews()";
    return reason->empty();
}

bool parse_creation_options(CSLConstList given, CreationOptions *options, std::string *reason) {
    CPLStringList ours;
    options->unknown = first_unknown(given);
    if (!options->unknown.empty())
        tell_options("creation", options->unknown, kOptions);
    if (!parse_flag(given, "APPEND_SUBDATASET", &options->append, reason) ||
        !translate_own_options(given, &ours, reason))
        return false;
    if (options->append && ours.FetchNameValue("ARRAY_NAME") == nullptr) {
        *reason = "APPEND_SUBDATASET=YES needs ARRAY_NAME, the name of the new array";
        return false;
    }
    const CSLConstList list = ours.List();
    const int interleave = choose(list, "INTERLEAVE", {"BAND", "PIXEL"}, reason);
    options->pixel_interleave = interleave == 1;
    options->array_name = CSLFetchNameValueDef(list, "ARRAY_NAME", "");
    return interleave >= 0 && parse_colours(list, options, reason) &&
           parse_keys(list, options, reason) && parse_order(list, options, reason) &&
           parse_block(list, options, reason) && parse_shard(list, options, reason) &&
           parse_compression(list, options, reason) && parse_overviews(list, options, reason) &&
           parse_flag(list, "STORE_EMPTY", &options->write.store_empty, reason) &&
           parse_consolidated(list, options, reason) && parse_sync(list, &options->write, reason);
}

} // namespace zarr3
