/* SPDX-License-Identifier: MIT */
/* The options that a program may give when it creates a raster. */
#ifndef ZARR3_CREATION_OPTIONS_H
#define ZARR3_CREATION_OPTIONS_H

#include <optional>
#include <string>
#include <vector>

#include "base/compat.h"
#include "base/extent_lists.h"
#include "zarrbridge/write.h"

namespace zarr3 {

/* For GDAL_DMD_CREATIONOPTIONLIST. */
const char *creation_option_list();

enum class Sharding { Auto, Off, Given };

/* What is done with the elements of blocks before they are compressed: Shuffle sorts their bytes by
   significance, Delta stores differences. Auto: Shuffle for floats in rasters, where COMPRESS is
   not given. */
enum class Predictor { Auto, None, Shuffle, Delta };

struct CreationOptions {
    bool append = false;    /* to the store that is there; array_name is given then */
    std::string array_name; /* "": by the file's name */
    bool pixel_interleave = false;
    std::vector<GDALColorInterp> colours; /* of the first bands, if PHOTOMETRIC is given */
    std::optional<bool> alpha;            /* of the band behind the colours, if ALPHA is given */
    std::vector<uint64_t> block; /* rows and columns, or one extent for each dimension; or empty */
    ChunkRuns block_runs;        /* of the same dimensions, where BLOCKSIZE has lists */
    Sharding sharding = Sharding::Auto;
    std::vector<uint64_t> shard; /* likewise, when Given */
    ChunkRuns shard_runs;
    std::string codecs;                    /* as zb_array_spec has them */
    std::optional<std::string> compressor; /* the codec of COMPRESS, "" for none; unset: CODECS */
    Predictor predictor = Predictor::None;
    std::string sorted_codecs;  /* in place of `codecs`, with bytes or bits sorted; or "" */
    bool fortran_order = false; /* of elements in blocks: the first dimension varies fastest */
    char separator = '/';
    std::string key_encoding;         /* of chunks, as zb_array_spec has it, or "" */
    std::optional<bool> consolidated; /* metadata of the whole hierarchy in its root, if given */
    zb_write_options write = {};
    bool make_overviews = false;
    bool copy_overviews = false; /* those of the source, in CreateCopy() */
    std::string resampling;      /* for overviews */
    bool level_groups = false;   /* all levels are groups, the raster's own is the first of them */
    std::string unknown;         /* the first unknown option, or "" */
};

/* False, with *reason set, when a value is none of those that the list allows. */
bool parse_creation_options(CSLConstList list, CreationOptions *options, std::string *reason);

/* False, with *reason set, when the options have some that only rasters can have. */
bool check_for_arrays(const CreationOptions &options, std::string *reason);

/* SYNC, which is an open option as well. */
bool parse_sync(CSLConstList list, zb_write_options *write, std::string *reason);

} // namespace zarr3

#endif
