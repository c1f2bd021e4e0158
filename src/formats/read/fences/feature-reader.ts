import { FormatError } from "../format.ts";
import { JsonCutter } from "../json/json-cutter.ts";
import type { FenceReader, FenceSink } from "./fence-sink.ts";

/** Reads a GeoJSON FeatureCollection, feature by feature. */
export class FeatureReader implements FenceReader {
  readonly #sink: FenceSink;
  readonly #cutter = new JsonCutter({ lists: ["features"], members: ["type"] });
  #count = 0;

  constructor(sink: FenceSink) {
    this.#sink = sink;
  }

  push(piece: Uint8Array): void {
    this.#cutter.push(piece);
    for (let cut = this.#cutter.next(); cut !== null; cut = this.#cutter.next()) {
      if (cut.member === "type" && cut.value !== "FeatureCollection")
        throw new FormatError("type must be FeatureCollection");
      if (cut.member !== "features") continue;
      const place = `features[${this.#count++}]`;
      if (cut.fault !== null) throw new FormatError(`${place} is not valid JSON, or too long`);
      this.#sink({ place, feature: cut.value });
    }
  }

  end(): void {
    this.#cutter.end();
  }
}
