/* SPDX-License-Identifier: MIT */
/* What `zarrbridge info` prints. */
#ifndef ZB_CLI_INFO_H
#define ZB_CLI_INFO_H

#include "zarrbridge/node.h"

/* Describes one node on standard output: a fact a line. No data are read. */
enum zb_code info_print(const zb_node *node, zb_error *err);

#endif
