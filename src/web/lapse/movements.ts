import type { TracksAnswer } from "../api/answers.ts";
import { METERS_PER_DEGREE, RADIANS_PER_DEGREE } from "../geo/earth.ts";
import { worldX, worldY } from "../geo/world.ts";

/*
 * The movements of all devices in a range, for a time lapse. Each answer of the server becomes a chunk of pieces, which
 * lead evenly from one position and time to another:
 *
 *   | word | what                                                     |
 *   |------|----------------------------------------------------------|
 *   | 0, 1 | start: x, y of `world.ts`                                |
 *   | 2, 3 | end                                                      |
 *   | 4, 5 | start and end, ms since the start of the range           |
 *   | 6    | its `PieceKind`                                          |
 *
 * A frame needs the pieces of a moment. They are found by a binary search for each class of durations: pieces of a
 * class are in the order of their starts, and none lasts longer than the class allows.
 */

export const PIECE_WORDS = 7;
export const PIECE_BYTES = PIECE_WORDS * 4;

/** What a device does during a piece. A silent device is shown where it was last. */
export const PIECE_KINDS = { moving: 0, standing: 1, silent: 2 } as const;

/** Pieces with similar durations. */
export interface PieceClass {
  /** The index of the first piece. */
  readonly first: number;
  readonly count: number;
  readonly longestMs: number;
}

/** The pieces of one answer. */
export interface Chunk {
  readonly words: Uint32Array;
  readonly classes: readonly PieceClass[];
  /** From the start of the first piece to the end of the last, ms since the start of the range. */
  readonly startMs: number;
  readonly endMs: number;
}

/** As in the server's rule for gaps. */
export const SILENCE_MS_MAX = 10 * 60_000;
const SPEED_MAX_METERS_PER_SECOND = 400;
/** How long a device that falls silent is still shown. */
const LINGER_MS = 10 * 60_000;
/** Slower devices count as standing. */
const MOVING_METERS_PER_SECOND_MIN = 0.4;

/** The first class has pieces of up to a minute, each other one pieces of up to twice as long. */
const SHORTEST_CLASS_MS = 60_000;
/** Pieces are sorted by keys of a class, a start in steps of 16 ms, and an index; together they fit into a double. */
const START_STEP_MS = 16;
const STARTS_MAX = 2 ** 26;
const PIECES_MAX = 2 ** 20;

interface Vertex {
  readonly ms: number;
  readonly latitude: number;
  readonly longitude: number;
}

/** Turns answers for consecutive ranges into chunks, and joins the lines of one answer to those of the next. */
export class Movements {
  readonly #startMs: number;
  /** The last position of each device that may move on in the next answer. */
  readonly #open = new Map<string, Vertex>();

  /** `startMs` is the start of the whole range, Unix ms. */
  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  /** The pieces up to `endMs`, Unix ms, the end of the answer's range; null if there are none. */
  add({ device_id, first, gaps, timestamp, latitude, longitude }: TracksAnswer, endMs: number): Chunk | null {
    const pieces = new Pieces();
    const isGap = new Set(gaps);
    for (const [place, id] of device_id.entries()) {
      const end = first[place + 1] ?? timestamp.length;
      let before = this.#open.get(id);
      for (let at = first[place]!; at < end; at++) {
        const vertex = {
          ms: timestamp[at]! - this.#startMs,
          latitude: latitude[at]!,
          longitude: longitude[at]!,
        };
        const isFirst = at === first[place];
        const isJoined = isFirst ? before !== undefined && areJoined(before, vertex) : !isGap.has(at);
        if (before !== undefined && isJoined) pieces.addWay(before, vertex);
        else if (before !== undefined) pieces.addSilence(before, vertex.ms);
        before = vertex;
      }
      if (before !== undefined) this.#open.set(id, before);
    }
    this.#endSilent(pieces, endMs - this.#startMs);
    return pieces.chunk();
  }

  /** The last pieces: at the end of the range devices stay where they are. */
  end(): Chunk | null {
    const pieces = new Pieces();
    for (const vertex of this.#open.values()) pieces.addEnd(vertex);
    this.#open.clear();
    return pieces.chunk();
  }

  /** Forgets devices that have been silent for so long that nothing joins them. */
  #endSilent(pieces: Pieces, nowMs: number): void {
    for (const [id, vertex] of this.#open) {
      if (nowMs - vertex.ms <= SILENCE_MS_MAX) continue;
      pieces.addSilence(vertex, Number.POSITIVE_INFINITY);
      this.#open.delete(id);
    }
  }
}

function areJoined(a: Vertex, b: Vertex): boolean {
  const ms = b.ms - a.ms;
  return ms <= SILENCE_MS_MAX && metersOf(a, b) <= (SPEED_MAX_METERS_PER_SECOND * ms) / 1000;
}

/** On a plane, which is accurate enough to tell moving from standing. */
function metersOf(a: Vertex, b: Vertex): number {
  const turn = Math.abs(b.longitude - a.longitude);
  const east = Math.min(turn, 360 - turn) * Math.cos(a.latitude * RADIANS_PER_DEGREE);
  return Math.hypot(b.latitude - a.latitude, east) * METERS_PER_DEGREE;
}

/** Collects pieces, in any order. */
class Pieces {
  #words = new Uint32Array(1024 * PIECE_WORDS);
  #count = 0;

  addWay(a: Vertex, b: Vertex): void {
    const isMoving = metersOf(a, b) >= (MOVING_METERS_PER_SECOND_MIN * (b.ms - a.ms)) / 1000;
    this.#add(a, b, b.ms, isMoving ? PIECE_KINDS.moving : PIECE_KINDS.standing);
  }

  addEnd(vertex: Vertex): void {
    this.#add(vertex, vertex, vertex.ms + LINGER_MS, PIECE_KINDS.standing);
  }

  addSilence(vertex: Vertex, endMs: number): void {
    this.#add(vertex, vertex, Math.min(endMs, vertex.ms + LINGER_MS), PIECE_KINDS.silent);
  }

  #add(a: Vertex, b: Vertex, endMs: number, kind: number): void {
    if (endMs <= a.ms || this.#count === PIECES_MAX) return;
    let at = this.#count++ * PIECE_WORDS;
    if (at === this.#words.length) {
      const words = new Uint32Array(2 * at);
      words.set(this.#words);
      this.#words = words;
    }
    const words = this.#words;
    words[at++] = worldX(a.longitude);
    words[at++] = worldY(a.latitude);
    words[at++] = worldX(b.longitude);
    words[at++] = worldY(b.latitude);
    words[at++] = a.ms;
    words[at++] = endMs;
    words[at] = kind;
  }

  chunk(): Chunk | null {
    const count = this.#count;
    if (count === 0) return null;
    const from = this.#words;
    const keys = new Float64Array(count);
    let startMs = Number.POSITIVE_INFINITY;
    let endMs = 0;
    for (let piece = 0, at = 4; piece < count; piece++, at += PIECE_WORDS) {
      const [start, end] = [from[at]!, from[at + 1]!];
      startMs = Math.min(startMs, start);
      endMs = Math.max(endMs, end);
      const startStep = Math.floor(start / START_STEP_MS);
      keys[piece] = (classOf(end - start) * STARTS_MAX + startStep) * PIECES_MAX + piece;
    }
    keys.sort();
    const words = new Uint32Array(count * PIECE_WORDS);
    const classes: PieceClass[] = [];
    for (let first = 0; first < count; ) {
      const number = classAt(keys, first);
      let next = first;
      while (next < count && classAt(keys, next) === number) next++;
      classes.push({ first, count: next - first, longestMs: SHORTEST_CLASS_MS * 2 ** number });
      first = next;
    }
    for (const [place, key] of keys.entries()) {
      const at = (key % PIECES_MAX) * PIECE_WORDS;
      words.set(from.subarray(at, at + PIECE_WORDS), place * PIECE_WORDS);
    }
    return { words, classes, startMs, endMs };
  }
}

function classOf(durationMs: number): number {
  return Math.max(0, Math.ceil(Math.log2(durationMs / SHORTEST_CLASS_MS)));
}

function classAt(keys: Float64Array, place: number): number {
  return Math.floor(keys[place]! / PIECES_MAX / STARTS_MAX);
}

/** The pieces of a class among which are all that are under way at any time from `fromMs` to `toMs`. */
export function piecesWithin(
  { words }: Pick<Chunk, "words">,
  { first, count, longestMs }: PieceClass,
  fromMs: number,
  toMs: number,
): { readonly first: number; readonly count: number } {
  const begin = firstAfter(words, first, first + count, fromMs - longestMs - START_STEP_MS);
  const end = firstAfter(words, begin, first + count, toMs + START_STEP_MS);
  return { first: begin, count: end - begin };
}

/** The first of some pieces that starts later. Those within 16 ms may be in any order. */
function firstAfter(words: Uint32Array, from: number, to: number, ms: number): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (words[middle * PIECE_WORDS + 4]! > ms) high = middle;
    else low = middle + 1;
  }
  return low;
}
