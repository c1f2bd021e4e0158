/**
 * The bounds of a FIT file's messages, found without decoding any, so that the messages before damage or a cut can be
 * read.
 *
 *     | header, 12 or 14 bytes: size, versions, size of the messages, ".FIT" | messages | CRC-16 |
 *
 * A message is a definition, of which 16 are active at a time, or data with the fields of one of them.
 */
export interface Outline {
  /** The byte range of the intact messages. */
  readonly start: number;
  readonly end: number;
  /** The end of this FIT file, after which another may follow. */
  readonly fileEnd: number;
  readonly messageCount: number;
  /** What is wrong after `end`, or null. */
  readonly fault: "cut off" | "damaged" | null;
  /** Whether the checksum is wrong; a file that was cut off has none. */
  readonly isDoubtful: boolean;
}

const COMPRESSED = 0x80;
const DEFINITION = 0x40;
const DEVELOPER = 0x20;
const RESERVED = 0x10;

const FILE_ID = 0;
const RECORD = 20;
/** Numbers that no message and no field has. */
const NO_MESSAGE = 0xff;
const NO_FIELD = 0xff;

const TIMESTAMP_FIELD = 253;
/** Latitude, longitude, altitude, speed, accuracy, and the enhanced altitude and speed. */
const RECORD_FIELDS = new Set([TIMESTAMP_FIELD, 0, 1, 2, 6, 31, 73, 78]);
const FIELD_BYTES = 3;
const DEFINITION_BYTES = 6;
const CRC_BYTES = 2;

interface Definition {
  readonly bytes: number;
  /** The size with the time in the header instead of its field. */
  readonly compressedBytes: number;
}

/** Whether a FIT file begins at an offset. */
export function isFit(bytes: Uint8Array, at: number): boolean {
  const size = bytes[at];
  return (size === 12 || size === 14) && at + size <= bytes.length && hasMark(bytes, at + 8);
}

function hasMark(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0x2e && bytes[at + 1] === 0x46 && bytes[at + 2] === 0x49 && bytes[at + 3] === 0x54;
}

/**
 * Modifies the bytes: unwanted messages and fields get unknown numbers. The parser creates objects of all that it
 * knows, so a file of a few megabytes would otherwise take gigabytes of memory.
 */
export function outlineFit(bytes: Uint8Array, at: number): Outline {
  const start = at + bytes[at]!;
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(at + 4, true);
  // A size of 0 is a recording that did not end.
  const statedEnd = size === 0 ? Infinity : start + size;
  const hasCrc = statedEnd + CRC_BYTES <= bytes.length;
  const isDoubtful =
    hasCrc && crc16(bytes, at, statedEnd) !== bytes[statedEnd]! + (bytes[statedEnd + 1]! << 8);
  const { end, messageCount, isDamaged } = walkMessages(bytes, start, Math.min(statedEnd, bytes.length));
  return {
    start,
    end,
    fileEnd: Math.min(statedEnd + CRC_BYTES, bytes.length),
    messageCount,
    fault: isDamaged ? "damaged" : end < statedEnd ? "cut off" : null,
    isDoubtful,
  };
}

function walkMessages(bytes: Uint8Array, start: number, limit: number) {
  const definitions: (Definition | undefined)[] = [];
  let messageCount = 0;
  let at = start;
  while (at < limit) {
    const header = bytes[at]!;
    let next: number;
    if ((header & COMPRESSED) === 0 && (header & DEFINITION) !== 0) {
      const definition = readDefinition(bytes, at, limit);
      if (definition === null) break;
      if (definition.isDamaged) return { end: at, messageCount, isDamaged: true };
      definitions[header & 0x0f] = definition;
      next = definition.next;
    } else {
      const isCompressed = (header & COMPRESSED) !== 0;
      const definition = definitions[isCompressed ? (header >> 5) & 3 : header & 0x0f];
      const isReserved = !isCompressed && (header & (DEVELOPER | RESERVED)) !== 0;
      if (definition === undefined || isReserved) return { end: at, messageCount, isDamaged: true };
      next = at + 1 + (isCompressed ? definition.compressedBytes : definition.bytes);
    }
    if (next > limit) break;
    at = next;
    messageCount++;
  }
  return { end: at, messageCount, isDamaged: false };
}

/** Returns null if it continues past the limit. Fields of 0 bytes count as damage: many would take time for nothing. */
function readDefinition(bytes: Uint8Array, at: number, limit: number) {
  const fieldCount = bytes[at + 5] ?? 0;
  const fieldsEnd = at + DEFINITION_BYTES + fieldCount * FIELD_BYTES;
  const hasDeveloper = (bytes[at]! & DEVELOPER) !== 0;
  const developerCount = hasDeveloper ? (bytes[fieldsEnd] ?? 0) : 0;
  const next = fieldsEnd + (hasDeveloper ? 1 + developerCount * FIELD_BYTES : 0);
  if (next > limit) return null;
  hideUnwanted(bytes, at, fieldCount);
  let size = 0;
  let isDamaged = false;
  const addFields = (from: number, count: number) => {
    for (let field = 0; field < count; field++) {
      const fieldBytes = bytes[from + field * FIELD_BYTES + 1]!;
      isDamaged ||= fieldBytes === 0;
      size += fieldBytes;
    }
  };
  addFields(at + DEFINITION_BYTES, fieldCount);
  addFields(fieldsEnd + 1, developerCount);
  const isTimed = fieldCount > 0 && bytes[at + DEFINITION_BYTES] === TIMESTAMP_FIELD;
  return {
    bytes: size,
    compressedBytes: isTimed ? size - bytes[at + DEFINITION_BYTES + 1]! : size,
    next,
    isDamaged,
  };
}

function hideUnwanted(bytes: Uint8Array, at: number, fieldCount: number): void {
  const [low, high] = bytes[at + 2] === 0 ? [at + 3, at + 4] : [at + 4, at + 3];
  const message = bytes[low]! + (bytes[high]! << 8);
  if (message === RECORD) {
    for (let field = 0; field < fieldCount; field++) {
      const numberAt = at + DEFINITION_BYTES + field * FIELD_BYTES;
      if (!RECORD_FIELDS.has(bytes[numberAt]!)) bytes[numberAt] = NO_FIELD;
    }
  } else if (message !== FILE_ID) bytes.fill(NO_MESSAGE, at + 3, at + 5);
}

/** CRC-16/ARC, four bits at a time. */
const CRC_TABLE = Uint16Array.from({ length: 16 }, (_, half) => {
  let crc = half;
  for (let bit = 0; bit < 4; bit++) crc = (crc & 1) === 1 ? (crc >> 1) ^ 0xa001 : crc >> 1;
  return crc;
});

function crc16(bytes: Uint8Array, start: number, end: number): number {
  let crc = 0;
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!;
    crc = (crc >> 4) ^ CRC_TABLE[(crc ^ byte) & 0x0f]!;
    crc = (crc >> 4) ^ CRC_TABLE[(crc ^ (byte >> 4)) & 0x0f]!;
  }
  return crc;
}
