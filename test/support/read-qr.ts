import { assert } from "../../src/lib/assert.ts";

/*
 * Reads a QR code, from the standard (ISO/IEC 18004) rather than from what draws it: bytes at the two lower levels of
 * correction, up to version 20. A camera's work of finding the code is not done here.
 */

/** The text of a code of half blocks on a terminal, white on black. */
export function readQr(drawn: string): string {
  return readModules(modulesOf(drawn));
}

/** The text of a code in an SVG path of horizontal bars, with its width in modules. */
export function readQrPath(path: string, size: number): string {
  const rows = Array.from({ length: size }, () => Array<boolean>(size).fill(false));
  for (const [, x, y, width] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g))
    rows[Number(y)]!.fill(true, Number(x), Number(x) + Number(width));
  return readModules(rows);
}

/** Fails if a single module is wrong. */
function readModules(modules: Modules): string {
  const code = cutBorder(modules);
  const version = (code.length - 17) / 4;
  assert(Number.isInteger(version) && version >= 1 && version <= 20, "the size is that of a version");
  const { mask, level } = readFormat(code);
  const codewords = readCodewords(code, version, mask);
  return textOf(Uint8Array.from(blocksOf(codewords, version, level).flat()), version);
}

/** By row, which modules are dark. */
type Modules = readonly (readonly boolean[])[];

function modulesOf(drawn: string): Modules {
  const lines = drawn.split("\n");
  const half = (dark: string) => lines.map((line) => [...line].map((block) => dark.includes(block)));
  const [upper, lower] = [half(" ▄"), half(" ▀")];
  const rows = upper.flatMap((row, index) => [row, lower[index]!]);
  return rows.slice(0, lines[0]!.length); // An odd height leaves half a line over.
}

function cutBorder(modules: Modules): Modules {
  const border = modules.findIndex((row) => row.includes(true));
  assert(border >= 2, "there is white around it");
  const inner = (row: readonly boolean[]) => row.slice(border, row.length - border);
  return modules.slice(border, modules.length - border).map(inner);
}

/** The mask and the level of correction, which stand there twice. */
function readFormat(code: Modules): { readonly mask: number; readonly level: Level } {
  const size = code.length;
  const beside = [...range(0, 6), 7, 8].map((x) => code[8]![x]!);
  const above = [7, ...range(0, 6).reverse()].map((y) => code[y]![8]!);
  const bottom = range(size - 7, size)
    .reverse()
    .map((y) => code[y]![8]!);
  const right = range(size - 8, size).map((x) => code[8]![x]!);
  const first = numberOf([...beside, ...above]);
  assert(first === numberOf([...bottom, ...right]), "both places say the same format");
  const format = first ^ 0x5412;
  const level = LEVELS[format >> 13];
  assert(level !== undefined, "the level of correction is one of the two lower ones");
  return { mask: (format >> 10) & 7, level };
}

const MASKS: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

/** Two columns at a time from the right, up and down by turns. */
function readCodewords(code: Modules, version: number, mask: number): number[] {
  const size = code.length;
  const bits: boolean[] = [];
  const columns = range(0, size)
    .filter((x) => x !== 6)
    .reverse();
  for (let pair = 0; pair < columns.length; pair += 2) {
    const rows = pair % 4 === 0 ? range(0, size).reverse() : range(0, size);
    for (const y of rows) {
      for (const x of columns.slice(pair, pair + 2)) {
        if (!isFunction(x, y, version)) bits.push(code[y]![x]! !== MASKS[mask]!(x, y));
      }
    }
  }
  return range(0, Math.floor(bits.length / 8)).map((i) => numberOf(bits.slice(i * 8, i * 8 + 8)));
}

/** Whether a module belongs to the patterns, and not to the data. */
function isFunction(x: number, y: number, version: number): boolean {
  const size = 17 + 4 * version;
  const isCorner = (x < 9 && y < 9) || (x < 9 && y >= size - 8) || (x >= size - 8 && y < 9);
  const isTiming = x === 6 || y === 6;
  const isVersion = version >= 7 && ((x < 6 && y >= size - 11) || (y < 6 && x >= size - 11));
  return isCorner || isTiming || isVersion || isAlignment(x, y, version);
}

function isAlignment(x: number, y: number, version: number): boolean {
  if (version === 1) return false;
  const last = 10 + 4 * version;
  const count = Math.floor(version / 7) + 2;
  const step = Math.ceil((last - 6) / (count - 1) / 2) * 2;
  const centers = [6, ...range(0, count - 1).map((index) => last - index * step)];
  const isNear = (at: number) => centers.find((center) => Math.abs(at - center) <= 2);
  const [near, beside] = [isNear(x), isNear(y)];
  if (near === undefined || beside === undefined) return false;
  const isFinder = [near, beside].filter((center) => center === 6).length;
  return isFinder === 0 || (isFinder === 1 && ![near, beside].includes(last));
}

/** By version from 1: the blocks, and codewords of correction in each. */
interface Level {
  readonly blocks: readonly number[];
  readonly correction: readonly number[];
}

/** M and L, by their number in the format. */
const LEVELS: readonly Level[] = [
  {
    blocks: [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16],
    correction: [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26],
  },
  {
    blocks: [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8],
    correction: [7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28],
  },
];

/** The data of each block, which stand codeword by codeword in turns. */
function blocksOf(codewords: readonly number[], version: number, level: Level): number[][] {
  const count = level.blocks[version - 1]!;
  const correction = level.correction[version - 1]!;
  const shortLength = Math.floor(codewords.length / count);
  const shortCount = count - (codewords.length % count);
  const blocks = range(0, count).map((): number[] => []);
  let at = 0;
  for (const index of range(0, shortLength + 1)) {
    for (const [b, block] of blocks.entries()) {
      if (index !== shortLength - correction || b >= shortCount) block.push(codewords[at++]!);
    }
  }
  for (const block of blocks) assert(isWhole(block, correction), "a block's codewords of correction fit");
  return blocks.map((block) => block.slice(0, block.length - correction));
}

/** Reed and Solomon: a whole block is 0 at the first powers of 2 in GF(256). */
function isWhole(block: readonly number[], correction: number): boolean {
  let power = 1;
  for (let i = 0; i < correction; i++) {
    if (block.reduce((sum, codeword) => product(sum, power) ^ codeword, 0) !== 0) return false;
    power = product(power, 2);
  }
  return true;
}

function product(a: number, b: number): number {
  let sum = 0;
  for (let bit = 7; bit >= 0; bit--) sum = (sum << 1) ^ ((sum >> 7) * 0x11d) ^ (((b >> bit) & 1) * a);
  return sum;
}

function textOf(data: Uint8Array, version: number): string {
  const bits = [...data].flatMap((byte) => range(0, 8).map((bit) => ((byte >> (7 - bit)) & 1) === 1));
  assert(numberOf(bits.slice(0, 4)) === 0b0100, "the code holds bytes");
  const start = version < 10 ? 12 : 20;
  const length = numberOf(bits.slice(4, start));
  const bytes = range(0, length).map((i) => numberOf(bits.slice(start + i * 8, start + i * 8 + 8)));
  return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes));
}

function numberOf(bits: readonly boolean[]): number {
  return bits.reduce((sum, bit) => sum * 2 + Number(bit), 0);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
