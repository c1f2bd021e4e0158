import type { Content, Format, Reading } from "../format.ts";
import { rootNameOf } from "../xml/root-name.ts";
import { KmlReader } from "./kml-reader.ts";

/** What Google Earth shows, and Google's Timeline once wrote. */
export const kml: Format = {
  name: "kml",
  title: "KML",
  extensions: [".kml"],
  placeUnit: "line",
  recognise: (beginning) => (rootNameOf(beginning) === "kml" ? "its outermost element is <kml>" : null),
  read: (content, sink, options) => readKml(content, new KmlReader(sink, options)),
};

function readKml(content: Content, reader: KmlReader): Reading {
  const { points } = reader;
  async function* read(): AsyncGenerator<void> {
    try {
      for await (const piece of content.pieces()) {
        reader.push(piece);
        yield* points.handOver();
        yield;
      }
      reader.end();
    } catch (error) {
      points.breakOff();
      yield* points.handOver();
      yield;
      throw error;
    }
  }
  return {
    get place() {
      return points.place;
    },
    [Symbol.asyncIterator]: read,
  };
}
