/**
 * For `body-unpacker.test.ts`, on any runtime: says how many pieces of zstd bodies were made at most before a timer
 * fired.
 */
import { Buffer } from "node:buffer";
import { zstdCompressSync } from "node:zlib";
import { BodyUnpacker } from "../../../src/http/body/body-unpacker.ts";

const unpacker = new BodyUnpacker();
const BODIES = 4;
const FRAMES = 999;

const frame = zstdCompressSync(Buffer.alloc(16_384, " "));
const packed = Buffer.concat(Array.from({ length: FRAMES }, () => frame));
let pieces = 0;
let most = 0;

const timer = setInterval(() => {
  most = Math.max(most, pieces);
  pieces = 0;
}, 1);
await Promise.all(
  Array.from({ length: BODIES }, (_, index) =>
    unpacker.unpack(packed, "zstd", `app ${index}`, async (text) => {
      for await (const _ of text) pieces++;
    }),
  ),
);
clearInterval(timer);
console.log(Math.max(most, pieces));
