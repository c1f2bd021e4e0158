import { type MaybePromise, whenThere } from "../../lib/schedule/maybe-promise.ts";
import type { Places } from "../../map/places/places.ts";
import type { Call } from "../call.ts";
import { PlaceMarks } from "../encode/place-marks.ts";
import type { Answer } from "./responder.ts";

/** Answers with or without places: what is written marks where they belong, if they were asked for. */
export function withPlaces(
  places: MaybePromise<Places> | null,
  write: (marks: PlaceMarks | null) => Answer,
): Answer {
  return places === null ? write(null) : whenThere(places, (loaded) => write(new PlaceMarks(loaded)));
}

/** Sends what was written, with its places. */
export function sendWithPlaces(
  call: Pick<Call, "json" | "pieces">,
  written: Uint8Array<ArrayBuffer>,
  marks: PlaceMarks | null,
): Answer {
  return marks === null ? call.json(written) : call.pieces(marks.putInto(written.slice()));
}
