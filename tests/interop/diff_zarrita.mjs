// SPDX-License-Identifier: MIT
// zarrita.js as a peer of the differential tests: requests and answers as diff_serve.py has them.
// It is copied to where the packages are installed.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { FileSystemStore } from "@zarrita/storage";
import * as zarr from "zarrita";

const { version } = JSON.parse(readFileSync("node_modules/zarrita/package.json"));
const numbers = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"];
console.log(JSON.stringify({
  name: "zarrita", version, types: ["bool", ...numbers, "float32", "float64"], rectilinear: false,
  codecs: ["bytes", "transpose", "sharding_indexed", "zstd", "gzip", "blosc", "crc32c"],
  keys: ["default", "v2"], v2: false,
}));

// Elements in C order, from memory of any strides.
function packed({ data, shape, stride }) {
  const out = new data.constructor(shape.reduce((a, b) => a * b, 1));
  const at = shape.map(() => 0);
  for (let i = 0; i < out.length; i++) {
    const from = at.reduce((sum, n, d) => sum + n * stride[d], 0);
    out[i] = data.get ? data.get(from) : data[from];
    for (let d = shape.length - 1; d >= 0 && ++at[d] === shape[d]; d--) at[d] = 0;
  }
  return Buffer.from(out.buffer, out.byteOffset, out.byteLength).toString("base64");
}

// Of arrays of bools a view that reads and writes one after the other.
function plain(chunk) {
  if (!chunk.data.get) return chunk;
  return { ...chunk, data: new Uint8Array(Array.from(chunk.data, Number)) };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { path, windows } = JSON.parse(line);
  let answer = [];
  try {
    const array = await zarr.open(new FileSystemStore(path), { kind: "array" });
    for (const [start, step, count] of windows) {
      const ranges = start.map((a, d) =>
        zarr.slice(a, a + (count[d] - 1) * step[d] + 1, step[d]));
      const read = count.length ? await zarr.get(array, ranges) : await array.getChunk([]);
      answer.push({ shape: count, dtype: null, data: packed(plain(read)) });
    }
  } catch (error) {
    answer = `${error} ${error.cause ?? ""}`;
  }
  console.log(JSON.stringify(answer));
}
