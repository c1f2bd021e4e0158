import { expect, test } from "bun:test";
import { type ZipOptions, ZipWriter } from "../../../../src/lib/bytes/zip-writer.ts";
import * as fc from "../../../support/fast-check.ts";
import { unzip } from "../../../support/formats/unzip.ts";
import { outcome } from "../../../support/rejection.ts";

function zipOf(name: string, pieces: readonly Uint8Array[], options: ZipOptions = {}): Uint8Array {
  const zip = new ZipWriter(options);
  return Buffer.concat([zip.begin(name), ...pieces.map((piece) => zip.add(piece)), zip.end()]);
}

test("files come out as they went in, in whatever pieces, and where numbers need 64 bits", async () => {
  // Small limits, so that all, some or none of the numbers are beyond them.
  const large = fc.record({
    isLarge: fc.constant(true),
    bytesMax: fc.integer({ min: 0, max: 1000 }),
    filesMax: fc.integer({ min: 0, max: 3 }),
  });
  const kinds = fc.oneof(fc.constant({}), fc.constant({ isLarge: true }), large);
  const pieces = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(fc.array(pieces, { maxLength: 3 }), kinds, async (written, options) => {
      const zip = new ZipWriter(options);
      const bytes = written.flatMap((file, index) => [
        zip.begin(`dö${index}.kml`),
        ...file.map((piece) => zip.add(piece)),
      ]);
      const files = await unzip(Buffer.concat([...bytes, zip.end()]));
      expect(files.map(({ name }) => name)).toEqual(written.map((_, index) => `dö${index}.kml`));
      expect(files.map(({ bytes }) => Buffer.from(bytes))).toEqual(
        written.map((file) => Buffer.concat(file)),
      );
    }),
  );
});

test("a zip that would be too large is refused, whether its file is or what is packed of it", () => {
  const incompressible = Uint8Array.from({ length: 1000 }, (_, index) => (index * index * 7919) >> 3);
  const size = zipOf("a", [incompressible]).length;
  expect(zipOf("a", [incompressible], { bytesMax: size })).toHaveLength(size);
  for (
    let max = 0;
    max < size - 22;
    max++ // The end of the directory has no place of its own in it.
  )
    expect(() => zipOf("a", [incompressible], { bytesMax: max })).toThrow("larger than 4 GiB");
  expect(() => zipOf("a", [new Uint8Array(1000), new Uint8Array(1000)], { bytesMax: 1999 })).toThrow(
    "larger than 4 GiB",
  );
  expect(zipOf("a", [new Uint8Array(1000), new Uint8Array(1000)], { bytesMax: 2000 }).length).toBeLessThan(
    200,
  );
});

test("a zip that was cut off is none", async () => {
  const zip = zipOf("a", [new Uint8Array(1000)]);
  for (let length = 0; length < zip.length; length += 5) {
    expect(await outcome(unzip(zip.subarray(0, length)))).toThrow();
  }
});
