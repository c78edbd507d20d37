/* SPDX-License-Identifier: MIT */
/*
 * Open files as a whole: the list of them, and the end of their waiting data. Closing a file is the
 * last call that tells of data that cannot be stored: when it fails, they are given up, and the
 * file is as good as closed. The next opening gets new writers.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_MODEL_FILES_H
#define ZARRBRIDGE_HDF5_VOL_MODEL_FILES_H

#include "model/tree.h"

/* Puts a file into the list of the library (lib->files), or takes it out where it is there. */
void vol_file_enlist(vol_file *file);
void vol_file_unlist(vol_file *file);

/* The open file of that name, or only one that is open for writing; NULL when there is none. */
vol_file *vol_file_find(const h5_lib *lib, const char *path, bool for_writing);

/* Stores all that waits in a file and, if the user wants that, makes it durable.
   A loss of data that wait no more fails each later flush, too. */
enum zb_code vol_file_flush(vol_file *file, zb_error *err);

/* Prints the error where no call is left that could return it. */
void vol_report_lost(const vol_file *file, const zb_error *err);

/* The program has been told that closing the file failed: forgets the data that wait, and the file
   itself for those who open it again. Its ids work on, as those of another process would. */
void vol_file_give_up(vol_file *file);

#endif
