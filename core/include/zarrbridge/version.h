/* SPDX-License-Identifier: MIT */
/*
 * The version, and what it promises to programs that are compiled already.
 *
 * Before 1.0 each minor version is a library of its own: libzarrbridge.so.0.1 with the symbol
 * version ZARRBRIDGE_0.1. A program never meets another one's, so that a minor version may change
 * the interface. Versions that differ in the last number alone have one interface: the list of it,
 * packaging/abi/zarrbridge.txt, is compared by a test.
 *
 * Structs that a caller fills (zb_read, zb_write, zb_array_spec ...) grow at their ends only, and a
 * new member that is zero means what was done before. Source stays valid where it names members,
 * or leaves out the last ones.
 */
#ifndef ZARRBRIDGE_VERSION_H
#define ZARRBRIDGE_VERSION_H

#include "zarrbridge/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the headers: what the program was compiled with. CMakeLists.txt compares them with its own. */
#define ZB_VERSION "0.1.0"
#define ZB_VERSION_MAJOR 0
#define ZB_VERSION_MINOR 1
#define ZB_VERSION_PATCH 0

/* For comparisons by the preprocessor: #if ZB_VERSION_NUMBER >= ZB_MAKE_VERSION(0, 2, 0) */
#define ZB_MAKE_VERSION(major, minor, patch) ((major) * 1000000 + (minor) * 1000 + (patch))
#define ZB_VERSION_NUMBER ZB_MAKE_VERSION(ZB_VERSION_MAJOR, ZB_VERSION_MINOR, ZB_VERSION_PATCH)

/* A file with the library in it holds its version behind this text. */
#define ZB_FILE_SIGN "@(#)zarrbridge "

/* Of the library that is loaded, e.g. "0.1.0". Static storage. */
ZB_API const char *zb_version(void);

#ifdef __cplusplus
}
#endif
#endif
