import { Buffer } from "node:buffer";
import {
  decodeIndexColumn,
  encodeIndexColumn,
  indexColumnBytesMax,
} from "../../../../src/lib/frames/index-column.ts";
import {
  decodeNumberColumn,
  encodeNumberColumn,
  numberColumnBytesMax,
} from "../../../../src/lib/frames/number-column.ts";
import { padded, viewsOf } from "../../../../src/lib/frames/views.ts";
import {
  createTextColumnReader,
  encodeTextColumn,
  textColumnBytesMax,
} from "../../../../src/wal/entry/text-column.ts";
import { damage } from "../support/damage.ts";
import { createDraw, type Draw } from "../support/inputs/draw.ts";
import { must, mustEqual, type Target } from "../support/target.ts";

/*
 * The columns of the log. What was encoded comes back; what is read from any bytes lies before the end, and comes back
 * too when it is written again. Columns begin somewhere in their entry, behind `AT` bytes.
 */

const AT = 16;
const COUNT_MAX = 100;

export const numberColumns: Target = {
  name: "numbers",
  bytesMax: 2048,
  seeds: () => [],
  check(input) {
    const draw = createDraw(input);
    const written = Float64Array.from(drawNumbers(draw));
    const source = viewsOf(new Uint8Array(numberColumnBytesMax(written.length)));
    const length = encodeNumberColumn(source, 0, written);
    mustEqual(numbersAgain(written), written, "a number column gives its numbers back");

    damage(draw, source.bytes);
    const values = new Float64Array(draw.near([written.length, 1, 100]));
    const end = decodeNumberColumn(source, 0, cut(draw, length), values);
    mustEndInside(end, length);
    if (end >= 0) mustEqual(numbersAgain(values), values, "numbers that were read can be written");
  },
};

/** Any numbers; or readings close to each other, at the bounds of what a column's widths can tell. */
function drawNumbers(draw: Draw): number[] {
  if (draw.chance(2)) return draw.list(COUNT_MAX, () => draw.double());
  const scale = 10 ** draw.upTo(10);
  const least = draw.upTo(2 ** 24) - 2 ** 23;
  const spans = [0, draw.near([1, 0xff, 0xffff, 0xffffffff]), draw.upTo(200)];
  return draw.list(8, () => (draw.chance(5) ? Number.NaN : (least + draw.pick(spans)) / scale));
}

function numbersAgain(values: Float64Array): Float64Array {
  const target = viewsOf(new Uint8Array(AT + numberColumnBytesMax(values.length)));
  const end = encodeNumberColumn(target, AT, values);
  const again = new Float64Array(values.length);
  mustEqual(decodeNumberColumn(target, AT, end, again), end, "a number column ends where it was written to");
  return again;
}

export const indexColumns: Target = {
  name: "indexes",
  bytesMax: 2048,
  seeds: () => [],
  check(input) {
    const draw = createDraw(input);
    const max = draw.near([1, 0xff, 0xffff, 0xfffffffe]);
    const written = Uint32Array.from(draw.list(COUNT_MAX, () => draw.pick([max, 0, draw.upTo(max)])));
    const source = viewsOf(new Uint8Array(indexColumnBytesMax(written.length)));
    const length = encodeIndexColumn(source, 0, written);
    mustEqual(indexesAgain(written), written, "an index column gives its indexes back");

    damage(draw, source.bytes);
    const values = new Uint32Array(draw.near([written.length, 1, 100]));
    const limit = draw.near([max, 1, 200]);
    const end = decodeIndexColumn(source, 0, cut(draw, length), limit, values);
    mustEndInside(end, length);
    if (end < 0) return;
    must(
      values.every((value) => value < limit),
      "indexes are below their limit",
      () => [limit, [...values]],
    );
    mustEqual(indexesAgain(values), values, "indexes that were read can be written");
  },
};

function indexesAgain(values: Uint32Array): Uint32Array {
  const target = viewsOf(new Uint8Array(AT + indexColumnBytesMax(values.length)));
  const end = encodeIndexColumn(target, AT, values);
  const again = new Uint32Array(values.length);
  const read = decodeIndexColumn(target, AT, end, 2 ** 32, again);
  mustEqual(read, end, "an index column ends where it was written to");
  return again;
}

const TEXTS_MAX = 40;
/** Remembers texts from one input to the next, as it does from one entry to the next. */
const reader = createTextColumnReader();

export const textColumns: Target = {
  name: "texts",
  bytesMax: 2048,
  seeds: () => [],
  check(input) {
    const draw = createDraw(input);
    const written = ["", ...draw.list(TEXTS_MAX, () => draw.text(60))];
    mustEqual(textsAgain(written), written, "a text column gives its texts back");

    const source = viewsOf(new Uint8Array(padded(textColumnBytesMax(written))));
    const [length, writtenBytes] = encodeTextColumn(source, 0, written);
    damage(draw, source.bytes);
    const texts = new Array<string>(Math.max(1, draw.near([written.length, 2]))).fill("");
    const textBytes = draw.near([writtenBytes, 1]);
    const end = reader.read(source, 0, cut(draw, length), textBytes, texts);
    mustEndInside(end, length);
    if (end < 0) return;
    const bytesOfAll = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    const isWhole = !texts.some((text) => text.includes("\uFFFD"));
    if (isWhole) mustEqual(bytesOfAll, textBytes, "texts take the bytes that they were said to");
    mustEqual(textsAgain(texts), texts, "texts that were read can be written");
  },
};

function textsAgain(texts: readonly string[]): readonly string[] {
  const target = viewsOf(new Uint8Array(padded(AT + textColumnBytesMax(texts))));
  const [end, textBytes] = encodeTextColumn(target, AT, texts);
  const again = texts.map(() => "");
  const read = reader.read(target, AT, end, textBytes, again);
  mustEqual(read, end, "a text column ends where it was written to");
  return again;
}

/** Where a column ends, or an entry that was cut off before. */
function cut(draw: Draw, length: number): number {
  return draw.chance(3) ? padded(draw.upTo(length)) : length;
}

function mustEndInside(end: number, length: number): void {
  must(end === -1 || (end <= length && end % 8 === 0), "a column ends before the end", () => [end, length]);
}
