// SPDX-License-Identifier: MIT
// Reads arrays with zarrita.js:  node zarrita.mjs FOLDER OUT NAME...
// For each it writes OUT/NAME.bin, the elements in the host's byte order, with their strides in
// OUT/NAME.json, or OUT/NAME.error. It is copied to where the packages are installed.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { FileSystemStore } from "@zarrita/storage";
import * as zarr from "zarrita";

const [folder, out, ...names] = process.argv.slice(2);

for (const name of names) {
  try {
    const store = new FileSystemStore(join(folder, name));
    const array = await zarr.open.v3(store, { kind: "array" });
    // Of an array without dimensions get() gives the bare number.
    const read = array.shape.length ? zarr.get(array) : array.getChunk([]);
    const { data, stride } = await read;
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    writeFileSync(join(out, name + ".bin"), bytes);
    writeFileSync(join(out, name + ".json"), JSON.stringify(stride));
  } catch (error) {
    writeFileSync(join(out, name + ".error"), `${error} ${error.cause ?? ""}`);
  }
}
