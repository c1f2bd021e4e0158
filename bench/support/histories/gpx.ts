import { SaxesParser } from "saxes";
import { createRandom, type Random } from "../fleets/random.ts";
import type { History } from "./history.ts";

/*
 * A GPX 1.1 as sports services write it: indented, a point a second with its altitude, speed and heart rate, these two
 * in Garmin's extension. Some 250 bytes a point.
 */

const POINTS_PER_PIECE = 512;
const STEP_MS = 1000;
/** Fewer than any point has, so that the last one is behind none that was asked for. */
const POINT_BYTES_MIN = 200;

const HEAD = `<?xml version="1.0" encoding="UTF-8"?>
<gpx creator="Bench" version="1.1" xmlns="http://www.topografix.com/GPX/1/1"
  xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v2">
 <trk>
  <name>bench</name>
  <trkseg>
`;
const TAIL = "  </trkseg>\n </trk>\n</gpx>\n";

export const gpxHistory: History = {
  format: "gpx",
  fileName: "activity.gpx",
  /** 160,000 points, the longest that people bring. */
  bytesMax: 40e6,
  *pieces({ seed, bytesMin, endMs }) {
    const random = createRandom(seed);
    let timestampMs = endMs - (bytesMin / POINT_BYTES_MIN) * STEP_MS;
    let bytes = 0;
    yield HEAD;
    do {
      let points = "";
      for (let index = 0; index < POINTS_PER_PIECE && (bytes < bytesMin || bytes === 0); index++) {
        const text = pointOf(random, timestampMs);
        timestampMs += STEP_MS;
        bytes += text.length;
        points += text;
      }
      yield points;
    } while (bytes < bytesMin);
    yield TAIL;
  },
  /** By saxes, which finds faults and knows all rules. */
  parse(piece) {
    const parser = new SaxesParser({ fragment: true, position: false });
    let points = 0;
    parser.on("error", () => {}); // Pieces end within elements.
    parser.on("opentag", ({ name }) => {
      if (name === "trkpt") points++;
    });
    parser.write(piece);
    return points;
  },
};

function pointOf(random: Random, timestampMs: number): string {
  const time = new Date(timestampMs).toISOString().replace(/\.\d+/, "");
  return `   <trkpt lat="${(52.5 + random() / 50).toFixed(7)}" lon="${(13.4 + random() / 50).toFixed(7)}">
    <ele>${(30 + random() * 20).toFixed(1)}</ele>
    <time>${time}</time>
    <extensions>
     <gpxtpx:TrackPointExtension>
      <gpxtpx:hr>${100 + Math.floor(random() * 80)}</gpxtpx:hr>
      <gpxtpx:speed>${(random() * 15).toFixed(2)}</gpxtpx:speed>
     </gpxtpx:TrackPointExtension>
    </extensions>
   </trkpt>
`;
}
