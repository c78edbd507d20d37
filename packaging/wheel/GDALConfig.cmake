# SPDX-License-Identifier: MIT
# GDAL as the wheel's driver needs it: the headers in ZARRBRIDGE_GDAL_SOURCE, and in the place of the library one without
# content, whose name is replaced by that of rasterio's when the driver is loaded (python/zarrbridge/_gdal.py).
set(GDAL_IS_PLACEHOLDER TRUE) # the driver's undefined symbols are looked for then
set(GDAL_VERSION ${PACKAGE_FIND_VERSION})
set(headers ${CMAKE_BINARY_DIR}/gdal-headers)
file(MAKE_DIRECTORY ${headers})
configure_file(${ZARRBRIDGE_GDAL_SOURCE}/gcore/gdal_version.h.in ${headers}/gdal_version.h COPYONLY)
# Of what GDAL's build finds out its headers use this.
file(CONFIGURE OUTPUT ${headers}/cpl_config.h @ONLY CONTENT "#pragma once
#define SIZEOF_INT 4
#define SIZEOF_UNSIGNED_LONG 8
#define SIZEOF_VOIDP 8
#define SIZEOF_SIZE_T 8
#define USE_GCC_VISIBILITY_FLAG 1
#define HAVE_GCC_ATOMIC_BUILTINS 1
#define HAVE_GCC_BSWAP 1
#define VSI_STAT64_T stat64
")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/nothing.c CONTENT "" @ONLY)
add_library(gdal_placeholder SHARED ${CMAKE_BINARY_DIR}/nothing.c)
set_target_properties(gdal_placeholder PROPERTIES OUTPUT_NAME gdal-placeholder-of-zarrbridge)
add_library(GDAL::GDAL INTERFACE IMPORTED)
foreach(folder gcore port ogr alg)
    target_include_directories(GDAL::GDAL INTERFACE ${ZARRBRIDGE_GDAL_SOURCE}/${folder})
endforeach()
target_include_directories(GDAL::GDAL INTERFACE ${headers})
target_link_libraries(GDAL::GDAL INTERFACE -Wl,--no-as-needed gdal_placeholder)
