import { crc32, deflateRawSync, zstdCompressSync } from "node:zlib";

/** A file of a zip archive; missing values have correct defaults. */
export interface ZipMember {
  readonly path: string;
  readonly content: Uint8Array | string;
  readonly method?: "stored" | "deflated" | "zstd";
  /** Values of the archive's directory, which may be wrong. */
  readonly says?: Partial<Listed>;
}

/** A directory entry. */
interface Listed {
  readonly method: number;
  readonly flags: number;
  readonly crc32: number;
  readonly packedBytes: number;
  readonly unpackedBytes: number;
  readonly position: number;
}

const UTF8_NAMES = 0x800;
const METHODS = { stored: 0, deflated: 8, zstd: 93 };

/** Creates a zip archive. With `isZip64` it has the fields of archives over 4 GiB. */
export function zipOf(members: readonly ZipMember[], isZip64 = false): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let position = 0;
  for (const { path, content, method = "deflated", says } of members) {
    const bytes = Buffer.from(content);
    const packed =
      method === "deflated" ? deflateRawSync(bytes) : method === "zstd" ? zstdCompressSync(bytes) : bytes;
    const listed: Listed = {
      method: METHODS[method],
      flags: UTF8_NAMES,
      crc32: crc32(bytes),
      packedBytes: packed.length,
      unpackedBytes: bytes.length,
      position,
      ...says,
    };
    const name = Buffer.from(path);
    parts.push(localHeader(listed, name), packed);
    directory.push(centralHeader(listed, name, isZip64));
    position += 30 + name.length + packed.length;
  }
  const directoryBytes = directory.reduce((sum, { length }) => sum + length, 0);
  const end = endOfDirectory(members.length, directoryBytes, position, isZip64);
  return Buffer.concat([...parts, ...directory, end]);
}

function localHeader({ method, flags, crc32, packedBytes, unpackedBytes }: Listed, name: Buffer): Buffer {
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(20, 4);
  header.writeUInt16LE(flags, 6);
  header.writeUInt16LE(method, 8);
  header.writeUInt32LE(crc32, 14);
  header.writeUInt32LE(packedBytes, 18);
  header.writeUInt32LE(unpackedBytes, 22);
  header.writeUInt16LE(name.length, 26);
  return Buffer.concat([header, name]);
}

function centralHeader(listed: Listed, name: Buffer, isZip64: boolean): Buffer {
  const { method, flags, crc32, packedBytes, unpackedBytes, position } = listed;
  const extra = Buffer.alloc(isZip64 ? 28 : 0);
  if (isZip64) {
    extra.writeUInt16LE(1, 0);
    extra.writeUInt16LE(24, 2);
    for (const [at, value] of [unpackedBytes, packedBytes, position].entries())
      extra.writeBigUInt64LE(BigInt(value), 4 + at * 8);
  }
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x02014b50, 0);
  header.writeUInt16LE(flags, 8);
  header.writeUInt16LE(method, 10);
  header.writeUInt32LE(crc32, 16);
  header.writeUInt32LE(isZip64 ? 0xffffffff : packedBytes, 20);
  header.writeUInt32LE(isZip64 ? 0xffffffff : unpackedBytes, 24);
  header.writeUInt16LE(name.length, 28);
  header.writeUInt16LE(extra.length, 30);
  header.writeUInt32LE(isZip64 ? 0xffffffff : position, 42);
  return Buffer.concat([header, name, extra]);
}

function endOfDirectory(count: number, bytes: number, position: number, isZip64: boolean): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Math.min(count, 0xffff), 8);
  end.writeUInt16LE(Math.min(count, 0xffff), 10);
  end.writeUInt32LE(bytes, 12);
  end.writeUInt32LE(isZip64 ? 0xffffffff : position, 16);
  if (!isZip64) return end;
  const large = Buffer.alloc(56);
  large.writeUInt32LE(0x06064b50, 0);
  large.writeBigUInt64LE(44n, 4);
  large.writeBigUInt64LE(BigInt(count), 24);
  large.writeBigUInt64LE(BigInt(count), 32);
  large.writeBigUInt64LE(BigInt(bytes), 40);
  large.writeBigUInt64LE(BigInt(position), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(position + bytes), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([large, locator, end]);
}
