import type { Format } from "../format.ts";
import { rootNameOf } from "../xml/root-name.ts";
import { readAfterScout } from "../xml/scouted-reading.ts";
import { OnlyCreator } from "./only-creator.ts";
import { TcxReader } from "./tcx-reader.ts";

const ROOT = "TrainingCenterDatabase";

/** Activities of watches, as Garmin's Training Center and many after it write them. */
export const tcx: Format = {
  name: "tcx",
  title: "TCX",
  extensions: [".tcx"],
  placeUnit: "line",
  recognise: (beginning) => (rootNameOf(beginning) === ROOT ? `its outermost element is <${ROOT}>` : null),
  read(content, sink, options) {
    const creator = new OnlyCreator();
    return readAfterScout(content, creator, new TcxReader(sink, options, () => creator.device));
  },
};
