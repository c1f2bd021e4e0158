import { SaxesParser } from "saxes";
import { createRandom, type Random } from "../fleets/random.ts";
import type { History } from "./history.ts";

/*
 * A GPX 1.1 like those of sports services: indented, a point per second with altitude, speed and heart rate, the last
 * two in Garmin's extension. Some 250 bytes a point.
 */

const POINTS_PER_PIECE = 512;
const STEP_MS = 1000;
/** Less than any point, so that the last one is not later than requested. */
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
  /** 160,000 points, the longest realistic file. */
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
  /** Uses saxes, a validating parser. */
  parse(piece) {
    const parser = new SaxesParser({ fragment: true, position: false });
    let points = 0;
    parser.on("error", () => {}); // Chunks end within elements.
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
