import { type MaybePromise, mapMaybe } from "../../lib/schedule/maybe-promise.ts";
import type { Places } from "../../map/places.ts";
import type { Answer } from "../answer/responder.ts";
import type { Call } from "../call.ts";
import { placeOf } from "../shapes/place.ts";

const encoder = new TextEncoder();

/**
 * The positions in an answer where names of places belong. They are looked up and inserted after the answer is written,
 * one by one: a thousand may take 100 ms, and meanwhile the devices could move.
 */
export class PlaceMarks {
  readonly #places: Places;
  readonly #offsets: number[] = [];
  readonly #latitudes: number[] = [];
  readonly #longitudes: number[] = [];

  constructor(places: Places) {
    this.#places = places;
  }

  /** Marks the end of an object's members. */
  add(offset: number, latitude: number, longitude: number): void {
    this.#offsets.push(offset);
    this.#latitudes.push(latitude);
    this.#longitudes.push(longitude);
  }

  /** The answer with its places, a piece for each. */
  *putInto(answer: Uint8Array<ArrayBuffer>): Generator<Uint8Array<ArrayBuffer>> {
    let from = 0;
    for (const [index, offset] of this.#offsets.entries()) {
      const place = placeOf(this.#places, this.#latitudes[index]!, this.#longitudes[index]!);
      yield answer.subarray(from, offset);
      yield encoder.encode(`,"place":${JSON.stringify(place)}`);
      from = offset;
    }
    yield answer.subarray(from);
  }
}

/** Creates an answer with or without places: `write` marks where they belong, if the request wants them. */
export function withPlaces(
  places: MaybePromise<Places> | null,
  write: (marks: PlaceMarks | null) => Answer,
): Answer {
  return places === null ? write(null) : mapMaybe(places, (loaded) => write(new PlaceMarks(loaded)));
}

export function sendWithPlaces(
  call: Pick<Call, "json" | "pieces">,
  written: Uint8Array<ArrayBuffer>,
  marks: PlaceMarks | null,
): Answer {
  return marks === null ? call.json(written) : call.pieces(marks.putInto(written.slice()));
}
