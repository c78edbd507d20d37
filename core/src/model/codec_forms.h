/* SPDX-License-Identifier: MIT */
/* Data types and values in configurations of codecs. */
#ifndef ZB_MODEL_CODEC_FORMS_H
#define ZB_MODEL_CODEC_FORMS_H

#include "codec/codec.h"

/* Those of bools and numbers; all else is ZB_EUNSUPPORTED. */
extern const zb__document_forms zb__codec_forms;

#endif
