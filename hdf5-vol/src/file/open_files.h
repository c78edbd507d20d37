/* SPDX-License-Identifier: MIT */
/*
 * Open files as a whole: the list of them, and the end of their waiting data. Closing a handle is
 * the last call that tells of its data that cannot be stored: when it fails, they are given up, and
 * the handle is as good as closed. Data of other handles go on waiting. When the last one that
 * could store anything has failed, so has the file: the next opening gets new writers.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_FILE_OPEN_FILES_H
#define ZARRBRIDGE_HDF5_VOL_FILE_OPEN_FILES_H

#include "tree/tree.h"

/* Puts a file into the list of the library (lib->files), or takes it out where it is there. */
void vol_file_enlist(vol_file *file);
void vol_file_unlist(vol_file *file);

/* The open file of that name, or only one that is open for writing; NULL when there is none. */
vol_file *vol_file_find(const h5_lib *lib, const char *path, bool for_writing);

/* Stores all that waits in a file and, if the user wants that, makes it durable. The error is of
   what concerns the handle (owners.h; NULL: any): what belongs to others goes on waiting, and their
   flush tells them. A loss of data that wait no more fails each later flush of the handles that
   were open then, too. */
enum zb_code vol_file_flush(vol_file *file, vol_handle *by, zb_error *err);

/* Prints the error where no call is left that could return it. */
void vol_report_lost(const vol_file *file, const zb_error *err);

/* What goes when closing a handle fails: what is its own alone, or all where no other handle could
   still store it. */
vol_owners vol_handle_gives_up(const vol_handle *handle);

/* The program has been told that closing the handle failed: forgets what goes. */
void vol_file_give_up(vol_handle *handle);

/* A handle is closed, or as good as closed. Where the others are so, too, and closing one of them
   has failed, so that its id is left over, the file itself is forgotten for those who open it
   again. Its ids work on, as those of another process would. */
void vol_file_closed(vol_handle *handle);

#endif
