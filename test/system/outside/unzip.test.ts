import { expect, test } from "bun:test";
import { ZipWriter } from "../../../src/lib/bytes/zip-writer.ts";

const unzipProgram = Bun.which("unzip");
if (unzipProgram === null) console.warn("Left out: zips as unzip sees them, which is not here.");

test.if(unzipProgram !== null)("unzip finds no fault with it", async () => {
  const zip = new ZipWriter();
  const path = `${process.env.TMPDIR ?? "/tmp"}/zip-writer-${process.pid}.zip`;
  const pieces = [
    zip.begin("doc.kml"),
    zip.add(new Uint8Array(100_000)),
    zip.add(new TextEncoder().encode("end")),
    zip.begin("files/photo.jpg"),
    zip.end(),
  ];
  await Bun.write(path, Buffer.concat(pieces));
  const { stdout, exitCode } = Bun.spawnSync([unzipProgram!, "-t", path]);
  expect(stdout.toString()).toContain("No errors detected");
  expect(exitCode).toBe(0);
  await Bun.file(path).delete();
});
