/* SPDX-License-Identifier: MIT */
/*
 * The GDAL extension: what is known of a raster, or of a group of rasters, and neither Zarr nor a
 * convention has a word for.
 *
 * It is one attribute of the node, `zarrbridge:gdal`: a text that holds a JSON object, as that of
 * the HDF5 extension (hdf5_extension.h). docs/gdal-extension.md describes the format; this header
 * has its members. The GDAL driver, zb_pyramid_build and the conventions of this library read and
 * change it by these calls alone.
 *
 * Earlier versions kept each member in an attribute of its own. Those are read where the object
 * lacks the member, and become members when one is changed.
 */
#ifndef ZARRBRIDGE_GDAL_EXTENSION_H
#define ZARRBRIDGE_GDAL_EXTENSION_H

#include "zarrbridge/node.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The name of the attribute. */
#define ZB_GDAL_EXTENSION "zarrbridge:gdal"

enum zb_gdal_member {
    /* Of arrays */
    ZB_GDAL_PAM,              /* the XML that GDAL writes to .aux.xml files */
    ZB_GDAL_NODATA,           /* of pairs of integers, which have no `_FillValue`: the pair */
    ZB_GDAL_FILL_IS_NODATA,   /* false: the fill value, which cannot be changed, is not nodata */
    ZB_GDAL_MASK,             /* the name of the array beside the raster that is its mask */
    ZB_GDAL_MASK_OF,          /* of a mask: the name of the raster that it belongs to */
    ZB_GDAL_HAS_CRS,          /* false: a grid mapping that it does not name is not its own */
    ZB_GDAL_COORDINATE_EPOCH, /* of a dynamic CRS: a decimal year */
    ZB_GDAL_OVERRULED,        /* the place by coordinates that the raster was moved away from */
    /* Of groups */
    ZB_GDAL_LEVEL_OF,      /* the raster that the group is a level of (multiscales.h) */
    ZB_GDAL_REPEATS_PLACE, /* true: what the group says of a place repeats what its rasters say */
    ZB_GDAL_MEMBERS        /* how many there are */
};

/* A parsed extension, which does not change. */
typedef struct zb_gdal_extension zb_gdal_extension;

/* Parses that of a node's attributes, the names of earlier versions included. *out is NULL when
   they have nothing of it. Freed with zb_gdal_extension_free (NULL is allowed). ZB_ENOMEM. */
ZB_API enum zb_code zb_gdal_extension_parse(const zb_json *attributes, zb_gdal_extension **out,
                                            zb_error *err);
ZB_API void zb_gdal_extension_free(zb_gdal_extension *extension);

/* A member, of the kind of JSON that the table says, or NULL. Lives as long as the extension, for
   which NULL is allowed, and the attributes. */
ZB_API const zb_json *zb_gdal_extension_get(const zb_gdal_extension *extension,
                                            enum zb_gdal_member member);

/* A member of a node (NULL: of none) that is a boolean; `otherwise` where there is none. A member
   that is a text, malloc'ed; NULL where there is none. Both also when memory runs out. */
ZB_API bool zb_gdal_flag(const zb_node *node, enum zb_gdal_member member, bool otherwise);
ZB_API char *zb_gdal_text(const zb_node *node, enum zb_gdal_member member);

/* True for the name of the attribute, and of those that this library keeps for itself beside it:
   they are no attributes of the data. */
ZB_API bool zb_gdal_owns_attribute(const char *name);

/* The attribute that was the member in earlier versions; NULL where that was none of its own. */
ZB_API const char *zb_gdal_former_name(enum zb_gdal_member member);

/* ---- Changes -------------------------------------------------------------------------------- */

/* A member is set (value: JSON text, of its kind) or removed (NULL). */
typedef struct zb_gdal_change {
    enum zb_gdal_member member;
    const char *value;
} zb_gdal_change;

/* The attribute's value after changes, as JSON text (malloc'ed): NULL when no member is left. The
   attributes of earlier versions are to be removed with the same change (zb_gdal_edit of
   node_edit.h). Members that this version does not know stay. ZB_EUNSUPPORTED where the object is
   of another version; ZB_ENOMEM. */
ZB_API enum zb_code zb_gdal_extension_change(const zb_gdal_extension *now,
                                             const zb_gdal_change *changes, size_t count,
                                             char **out, zb_error *err);

#ifdef __cplusplus
}
#endif
#endif
