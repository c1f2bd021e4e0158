import { expect, test } from "bun:test";
import { ZipWriter } from "../../../../src/lib/bytes/zip-writer.ts";
import * as fc from "../../../support/fast-check.ts";
import { unzip } from "../../../support/formats/unzip.ts";
import { outcome } from "../../../support/rejection.ts";

const ALWAYS_64 = 0;

function zipOf(name: string, pieces: readonly Uint8Array[], zip64From?: number): Uint8Array {
  const zip = new ZipWriter(name, zip64From);
  return Buffer.concat([zip.begin(), ...pieces.map((piece) => zip.add(piece)), zip.end()]);
}

test("a file comes out as it went in, in whatever pieces, with sizes of either width", async () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(pieces, fc.constantFrom(undefined, ALWAYS_64), async (written, zip64From) => {
      const files = await unzip(zipOf("dö.kml", written, zip64From));
      expect(files.map(({ name }) => name)).toEqual(["dö.kml"]);
      expect(Buffer.from(files[0]!.bytes)).toEqual(Buffer.concat(written));
    }),
  );
});

test("a zip that was cut off is none", async () => {
  const zip = zipOf("a", [new Uint8Array(1000)]);
  for (let length = 0; length < zip.length; length += 5) {
    expect(await outcome(unzip(zip.subarray(0, length)))).toThrow();
  }
});
