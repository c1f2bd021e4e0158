/**
 * Where the messages of a FIT file lie, found without reading one, so that a file that is damaged or cut off keeps
 * those before.
 *
 *     | header, 12 or 14 bytes: size, versions, size of the messages, ".FIT" | messages | CRC-16 |
 *
 * A message is a definition, of which there are 16 at a time, or data in the order of fields that one of them lists.
 */
export interface Outline {
  /** Where the messages begin and end; those behind the end are damaged, or are missing. */
  readonly start: number;
  readonly end: number;
  /** Where the file ends that begins there, after which another may follow. */
  readonly fileEnd: number;
  readonly messageCount: number;
  /** What is wrong behind the end; null where nothing is. */
  readonly fault: "cut off" | "damaged" | null;
  /** Whether the checksum is another; a file that was cut off has none. */
  readonly isDoubtful: boolean;
}

const COMPRESSED = 0x80;
const DEFINITION = 0x40;
const DEVELOPER = 0x20;
const RESERVED = 0x10;

const FILE_ID = 0;
const RECORD = 20;
/** Numbers that no message and no field of a record has. */
const NO_MESSAGE = 0xff;
const NO_FIELD = 0xff;

const TIMESTAMP_FIELD = 253;
/** Latitude, longitude, altitude, speed, accuracy, and the altitude and speed that are told more exactly. */
const RECORD_FIELDS = new Set([TIMESTAMP_FIELD, 0, 1, 2, 6, 31, 73, 78]);
const FIELD_BYTES = 3;
const DEFINITION_BYTES = 6;
const CRC_BYTES = 2;

interface Definition {
  readonly bytes: number;
  /** With the time in its header, and without the field that it replaces. */
  readonly compressedBytes: number;
}

/** Whether a FIT file begins at a place. */
export function isFit(bytes: Uint8Array, at: number): boolean {
  const size = bytes[at];
  return (size === 12 || size === 14) && at + size <= bytes.length && hasMark(bytes, at + 8);
}

function hasMark(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0x2e && bytes[at + 1] === 0x46 && bytes[at + 2] === 0x49 && bytes[at + 3] === 0x54;
}

/**
 * Changes the file: messages that aren't wanted, and other fields of those that are, get numbers that nobody knows. A
 * parser makes objects of all it knows, by which a file of a few megabytes would take gigabytes of memory.
 */
export function outlineFit(bytes: Uint8Array, at: number): Outline {
  const start = at + bytes[at]!;
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(at + 4, true);
  // Watches write the size when a recording ends.
  const saidEnd = size === 0 ? Infinity : start + size;
  const hasCrc = saidEnd + CRC_BYTES <= bytes.length;
  const isDoubtful = hasCrc && crc16(bytes, at, saidEnd) !== bytes[saidEnd]! + (bytes[saidEnd + 1]! << 8);
  const { end, messageCount, isDamaged } = walkMessages(bytes, start, Math.min(saidEnd, bytes.length));
  return {
    start,
    end,
    fileEnd: Math.min(saidEnd + CRC_BYTES, bytes.length),
    messageCount,
    fault: isDamaged ? "damaged" : end < saidEnd ? "cut off" : null,
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
      const found = readDefinition(bytes, at, limit);
      if (found === null) break;
      if (found.isDamaged) return { end: at, messageCount, isDamaged: true };
      definitions[header & 0x0f] = found;
      next = found.next;
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

/** Null where it goes on behind the limit. Fields without bytes are damage: many would take time for nothing. */
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

/** CRC-16/ARC, half a byte at a time. */
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
