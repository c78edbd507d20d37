/* SPDX-License-Identifier: MIT */
/* `zarrbridge pyramid`: makes and removes levels of an array. */
#ifndef ZB_CLI_PYRAMID_H
#define ZB_CLI_PYRAMID_H

/* The arguments behind the command's name. Returns the exit status; -1 where they are wrong, which
   has been told on standard error. */
int pyramid_run(int argc, char **argv);

#endif
