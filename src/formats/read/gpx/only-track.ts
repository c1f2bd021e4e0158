import { GREATER, SLASH, SPACE } from "../../../lib/text/ascii.ts";
import type { Scout } from "../xml/scouted-reading.ts";
import { XmlText } from "../xml/xml-text.ts";

/** `<trk>` and what follows, with any prefix; the names of its points and segments begin with the same letters. */
const TRACK = /<(?:[^\s<>/:"']{1,32}:)?trk[\s/>]$/;
const TRACK_LENGTH_MAX = 40;

/**
 * Whether a file holds one track, after which its device is called then. Nothing is parsed for that, so a `<trk>` in a
 * comment counts too, and the device is called after the file.
 */
export class OnlyTrack implements Scout {
  readonly #text = new XmlText();
  #tracks = 0;
  #left = "";

  push(piece: Uint8Array): void {
    const text = this.#left + this.#text.decode(piece);
    let seen = 0;
    for (let at = text.indexOf("trk"); at >= 0; at = text.indexOf("trk", at + 3)) {
      const end = at + 4;
      if (
        !endsName(text.charCodeAt(at + 3)) ||
        !TRACK.test(text.slice(Math.max(0, end - TRACK_LENGTH_MAX), end))
      )
        continue;
      this.#tracks++;
      seen = end;
    }
    this.#left = text.slice(Math.max(seen, text.length - TRACK_LENGTH_MAX));
  }

  get isDone(): boolean {
    return this.#tracks > 1;
  }

  get isOnly(): boolean {
    return this.#tracks === 1;
  }
}

/** Told apart before the expression is tried, since nearly all are points. What the text cuts off comes again. */
function endsName(unit: number): boolean {
  return unit <= SPACE || unit === SLASH || unit === GREATER;
}
