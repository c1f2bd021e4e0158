import { assert } from "../../lib/assert.ts";
import { joinBytes } from "../../lib/bytes/growing-bytes.ts";
import type { Viewer } from "./live.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** What a viewer has given. */
type Given = { readonly piece: Bytes | null } | { readonly error: unknown };

/** One of the two viewers. */
interface Half {
  readonly viewer: Viewer;
  /** Its place before the piece that is coming. */
  place: number;
  isComing: boolean;
  given: Given | null;
}

/**
 * Positions and events as one viewer, since a browser has few connections for a server. The ids of its messages have
 * both places, each no further than what was sent of it: `81221-1795198842517`.
 */
export class MergedViewer implements Pick<Viewer, "next" | "isWithinEvent" | "close"> {
  readonly #positions: Half;
  readonly #events: Half;
  /** The half that is next if both have something. */
  #first: Half;
  #isWithinEvent = false;
  #waiting: PromiseWithResolvers<Bytes | null> | null = null;

  constructor(positions: Viewer, events: Viewer) {
    this.#positions = halfOf(positions);
    this.#events = halfOf(events);
    this.#first = this.#positions;
  }

  /** The places up to which it knows everything, once all bytes so far have arrived. */
  get sentId(): string {
    return `${sentPlace(this.#positions)}-${sentPlace(this.#events)}`;
  }

  /** Only positions have events in parts. */
  get isWithinEvent(): boolean {
    return this.#isWithinEvent;
  }

  next(): Promise<Bytes | null> {
    assert(this.#waiting === null, "a viewer waits for one part at a time");
    this.#waiting = Promise.withResolvers();
    const { promise } = this.#waiting;
    for (const half of [this.#positions, this.#events]) this.#request(half);
    this.#deliver();
    return promise;
  }

  close(): void {
    for (const { viewer } of [this.#positions, this.#events]) viewer.close();
  }

  /** One request for many pieces of the other half. */
  #request(half: Half): void {
    if (half.isComing) return;
    half.place = half.viewer.sentSequence;
    half.isComing = true;
    const note = (given: Given) => {
      half.given = given;
      this.#deliver();
    };
    half.viewer.next().then(
      (piece) => note({ piece }),
      (error: unknown) => note({ error }),
    );
  }

  #deliver(): void {
    const waiting = this.#waiting;
    if (waiting === null) return;
    const other = this.#first === this.#positions ? this.#events : this.#positions;
    const half = this.#isWithinEvent || this.#first.given !== null ? this.#first : other;
    const { given } = half;
    if (given === null) return;
    this.#waiting = null;
    half.given = null;
    half.isComing = false;
    if ("error" in given) {
      this.close();
      waiting.reject(given.error);
    } else if (given.piece === null) waiting.resolve(null);
    else waiting.resolve(this.#labelled(half, given.piece));
  }

  /** The piece, whose id gets the place of the other half. */
  #labelled(half: Half, piece: Bytes): Bytes {
    const isFirst = !this.#isWithinEvent;
    this.#isWithinEvent = half.viewer.isWithinEvent;
    const isOfPositions = half === this.#positions;
    // A part is followed by the rest of its event; else the other half has its turn.
    this.#first = this.#isWithinEvent || !isOfPositions ? this.#positions : this.#events;
    if (!isFirst) return piece;
    const [from, to] = idWithin(piece);
    return isOfPositions
      ? insert(piece, to, `-${sentPlace(this.#events)}`)
      : insert(piece, from, `${sentPlace(this.#positions)}-`);
  }
}

function halfOf(viewer: Viewer): Half {
  return { viewer, place: viewer.sentSequence, isComing: false, given: null };
}

/** What was given and is not sent yet does not count. */
function sentPlace({ viewer, place, isComing }: Half): number {
  return isComing && !viewer.isWaiting ? place : viewer.sentSequence;
}

const ID = new TextEncoder().encode("id: ");
const LINE_FEED = 10;

/** From where to where the number of the first id is. A message has its data in one line, so no other line is an id. */
function idWithin(piece: Bytes): readonly [from: number, to: number] {
  let start = 0;
  while (!ID.every((byte, index) => piece[start + index] === byte)) {
    start = piece.indexOf(LINE_FEED, start) + 1;
    assert(start > 0, "a message has an id");
  }
  return [start + ID.length, piece.indexOf(LINE_FEED, start)];
}

function insert(piece: Bytes, at: number, text: string): Bytes {
  return joinBytes([piece.subarray(0, at), new TextEncoder().encode(text), piece.subarray(at)]);
}
