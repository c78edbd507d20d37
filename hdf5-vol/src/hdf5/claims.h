/* SPDX-License-Identifier: MIT */
/*
 * What the connector says of itself without being it, for programs that are in use.
 * docs/registration.md tells for each who needs it, and what happens without. Each can be left out
 * by itself, by -DVOL_CLAIM_...=0 for the compiler, to see whether a newer HDF5 or program still
 * needs it.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_HDF5_CLAIMS_H
#define ZARRBRIDGE_HDF5_VOL_HDF5_CLAIMS_H

/* plugin.c: the class at the end of the stack is the native one, for HDF5's older calls. Programs
   leave it out by native_compat=0. */
#ifndef VOL_CLAIM_CLASS
#define VOL_CLAIM_CLASS 1
#endif

/* shadows.c: native objects stand in for ours where the native connector walks all ids. */
#ifndef VOL_CLAIM_OBJECTS
#define VOL_CLAIM_OBJECTS 1
#endif

/* plugin.c: the abilities of HDF5's own connector, where nobody says which file is meant. */
#ifndef VOL_CLAIM_ABILITIES
#define VOL_CLAIM_ABILITIES 1
#endif

/* native.c: answers about a file format that stores do not have. */
#ifndef VOL_CLAIM_FORMAT
#define VOL_CLAIM_FORMAT 1
#endif

#endif
