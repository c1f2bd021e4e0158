/* Puts frames together to one animated WebP: https://developers.google.com/speed/webp/docs/riff_container */

export interface Frame {
  /** A WebP file; its clear pixels are those of the frames before. */
  readonly image: Buffer;
  /** Even. */
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly durationMs: number;
}

const ANIMATION = 0x02;
const ALPHA = 0x10;
/** The chunks of a file that have its pixels. */
const PIXEL_CHUNKS = new Set(["ALPH", "VP8 ", "VP8L"]);

/** The animation goes round for ever. */
export function animatedWebp(width: number, height: number, frames: readonly Frame[]): Buffer {
  const size = Buffer.concat([uint24(width - 1), uint24(height - 1)]);
  const chunks = [
    chunk("VP8X", Buffer.from([ANIMATION | ALPHA, 0, 0, 0]), size),
    chunk("ANIM", Buffer.from([0, 0, 0, 255, 0, 0])),
    ...frames.map((frame) => chunk("ANMF", placeOf(frame), Buffer.from([0]), pixelsOf(frame.image))),
  ];
  return chunk("RIFF", Buffer.from("WEBP"), ...chunks);
}

function placeOf({ left, top, width, height, durationMs }: Frame): Buffer {
  return Buffer.concat([left / 2, top / 2, width - 1, height - 1, durationMs].map(uint24));
}

function pixelsOf(image: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 12; at < image.length; ) {
    const bytes = image.readUInt32LE(at + 4);
    const end = at + 8 + bytes + (bytes % 2);
    if (PIXEL_CHUNKS.has(image.toString("latin1", at, at + 4))) chunks.push(image.subarray(at, end));
    at = end;
  }
  return Buffer.concat(chunks);
}

function chunk(name: string, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const head = Buffer.alloc(8, name, "latin1");
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
}

function uint24(value: number): Buffer {
  const bytes = Buffer.alloc(3);
  bytes.writeUIntLE(value, 0, 3);
  return bytes;
}
