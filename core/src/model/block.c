/* SPDX-License-Identifier: MIT */
#include "model/block.h"

void zb__block_begin(zb_json_writer *w) {
    zb_json_begin_object(w);
    zb_json_write_name(w, "kind");
    zb_json_write_string(w, "inline");
    zb_json_write_name(w, "must_understand");
    zb_json_write_bool(w, false);
    zb_json_write_name(w, "metadata");
    zb_json_begin_object(w);
}

void zb__block_end(zb_json_writer *w) {
    zb_json_end_object(w);
    zb_json_end_object(w);
}
