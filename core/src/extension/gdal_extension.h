/* SPDX-License-Identifier: MIT */
/* The GDAL extension among the attributes of a new node (the public gdal_extension.h). */
#ifndef ZB_EXTENSION_GDAL_EXTENSION_H
#define ZB_EXTENSION_GDAL_EXTENSION_H

#include "zarrbridge/gdal_extension.h"

/* Writes the attribute into an object of attributes: what another node's (NULL: none) says after
   changes, as far as it is known what that means. Nothing where no member is left. False when
   memory ran out. */
bool zb__gdal_write(zb_json_writer *attributes, const zb_gdal_extension *other,
                    const zb_gdal_change *changes, size_t count);

#endif
