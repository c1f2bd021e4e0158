import { expect, test } from "bun:test";
import { ZipWriter } from "../../../src/lib/bytes/zip-writer.ts";

const ALWAYS_64 = 0;

function zipOf(name: string, pieces: readonly Uint8Array[], zip64From?: number): Uint8Array {
  const zip = new ZipWriter(name, zip64From);
  return Buffer.concat([zip.begin(), ...pieces.map((piece) => zip.add(piece)), zip.end()]);
}

const unzipProgram = Bun.which("unzip");
if (unzipProgram === null) console.warn("Left out: zips as unzip sees them, which is not here.");

test.if(unzipProgram !== null)("unzip finds no fault with it", async () => {
  for (const zip64From of [undefined, ALWAYS_64]) {
    const path = `${process.env.TMPDIR ?? "/tmp"}/zip-writer-${process.pid}-${zip64From}.zip`;
    await Bun.write(
      path,
      zipOf("doc.kml", [new Uint8Array(100_000), new TextEncoder().encode("end")], zip64From),
    );
    const { stdout, exitCode } = Bun.spawnSync([unzipProgram!, "-t", path]);
    expect(stdout.toString()).toContain("No errors detected");
    expect(exitCode).toBe(0);
    await Bun.file(path).delete();
  }
});
