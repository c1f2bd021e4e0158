import { expect } from "bun:test";
import { buffer } from "node:stream/consumers";
import { crc32 } from "node:zlib";
import { type Entry, fromBuffer, type ZipFile } from "yauzl";

/** Unpacks an archive; its checksums must be right. */
export async function unzip(bytes: Uint8Array): Promise<{ name: string; bytes: Uint8Array }[]> {
  const zip = await new Promise<ZipFile>((resolve, reject) =>
    fromBuffer(Buffer.from(bytes), { lazyEntries: true }, (error, file) =>
      error ? reject(error) : resolve(file),
    ),
  );
  const files: { name: string; bytes: Uint8Array }[] = [];
  for (;;) {
    const entry = await new Promise<Entry | null>((resolve, reject) => {
      zip.removeAllListeners("entry").once("entry", resolve);
      zip.removeAllListeners("end").once("end", () => resolve(null));
      zip.removeAllListeners("error").once("error", reject);
      zip.readEntry();
    });
    if (entry === null) return files;
    const stream = await new Promise<NodeJS.ReadableStream>((resolve, reject) =>
      zip.openReadStream(entry, (error, opened) => (error ? reject(error) : resolve(opened))),
    );
    const content = new Uint8Array(await buffer(stream));
    expect(crc32(content)).toBe(entry.crc32);
    files.push({ name: entry.fileName, bytes: content });
  }
}
