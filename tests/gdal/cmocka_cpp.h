/* SPDX-License-Identifier: MIT */
/* cmocka for C++, where its header declares no language. To be included last: it has macros of
   common names. */
#ifndef TEST_GDAL_CMOCKA_CPP_H
#define TEST_GDAL_CMOCKA_CPP_H

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>

extern "C" {
#include <cmocka.h>
}

#endif
