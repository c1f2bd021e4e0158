import type { Format } from "../format.ts";
import { rootNameOf } from "../xml/root-name.ts";
import { readAfterScout } from "../xml/scouted-reading.ts";
import { GpxReader } from "./gpx-reader.ts";
import { OnlyTrack } from "./only-track.ts";

/** Tracks of receivers, watches and apps. */
export const gpx: Format = {
  name: "gpx",
  title: "GPX",
  extensions: [".gpx"],
  placeUnit: "line",
  recognise: (beginning) => (rootNameOf(beginning) === "gpx" ? "its outermost element is <gpx>" : null),
  read(content, sink, options) {
    const track = new OnlyTrack();
    return readAfterScout(content, track, new GpxReader(sink, options, () => track.isOnly));
  },
};
