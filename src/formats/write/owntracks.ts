import { COMMA, LF } from "../../lib/text/ascii.ts";
import {
  createFragment,
  type Fragment,
  fragmentRoom,
  JsonWriter,
  NUMBER_BYTES_MAX,
  writeFragment,
  writeNumber,
} from "../../lib/text/json-writer.ts";
import { numberIndex, stateIndex } from "../../model/location-fields.ts";
import { FragmentCache } from "./fragment-cache.ts";
import { PIECE_BYTES_EXPECTED, type RecordWriter, textPiece, type WriteOptions } from "./record-writer.ts";

/*
 * The output of the OwnTracks Recorder's API and `ocat`: messages of `_type` `location`, as the apps send them. They
 * have whole seconds, meters, degrees and km/h, so this is lossy.
 */

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");

const KMH_PER_MPS = 3.6;

/** Members that the apps send as integers. */
const WHOLE_NUMBERS = [
  { name: "acc", field: numberIndex("horizontal_accuracy"), factor: 1 },
  { name: "vac", field: numberIndex("vertical_accuracy"), factor: 1 },
  { name: "alt", field: numberIndex("altitude"), factor: 1 },
  { name: "vel", field: numberIndex("speed"), factor: KMH_PER_MPS },
  { name: "cog", field: numberIndex("bearing"), factor: 1 },
  { name: "batt", field: numberIndex("battery_level"), factor: 1 },
].map(({ name, ...rest }) => ({ ...rest, key: createFragment(`,"${name}":`) }));

const BATTERY_STATUS = stateIndex("battery_status");
const BATTERY_NUMBERS: ReadonlyMap<unknown, number> = new Map([
  ["Not Charging", 1],
  ["Charging", 2],
  ["Full", 3],
]);

const HEAD = createFragment('{"_type":"location","lat":');
const LON = createFragment(',"lon":');
const TST = createFragment(',"tst":');
const TAIL = createFragment("}");

/** Space for everything except device and state. */
const NUMBERS_ROOM = (WHOLE_NUMBERS.length + 3) * (NUMBER_BYTES_MAX + 32);

/** The count is known only at the end, so it follows the locations. */
export function createOwnTracksWriter({ simplifyMeters }: WriteOptions): RecordWriter {
  const json = new JsonWriter(PIECE_BYTES_EXPECTED);
  const devices = new FragmentCache(deviceMembers);
  const states = new FragmentCache(stateMembers);
  const mark = simplifyMeters === null ? "" : `"simplified_meters":${simplifyMeters},`;
  let count = 0;
  return {
    begin: () => textPiece(`{${mark}"locations":[`),
    write({ count: rowCount, deviceIds, timestampMs, numbers, ...tuples }) {
      json.clear();
      for (let row = 0; row < rowCount; row++) {
        if (count++ > 0) json.byte(COMMA);
        json.byte(LF);
        const device = devices.of(deviceIds[row]!);
        const state = states.of(tuples.states[row]!);
        json.ensure(NUMBERS_ROOM + fragmentRoom(device) + fragmentRoom(state));
        json.length = writeNumbers(json, numbers, row, Math.floor(timestampMs[row]! / 1000));
        json.fragment(device);
        json.fragment(state);
        json.fragment(TAIL);
      }
      return json.written();
    },
    end: () => textPiece(`\n],"count":${count}}\n`),
  };
}

function writeNumbers(
  { view, length }: JsonWriter,
  numbers: readonly Float64Array[],
  row: number,
  seconds: number,
): number {
  const put = (at: number, key: Fragment, value: number) =>
    writeNumber(view, writeFragment(view, at, key), value);
  let at = put(length, HEAD, numbers[LATITUDE]![row]!);
  at = put(at, LON, numbers[LONGITUDE]![row]!);
  at = put(at, TST, seconds);
  for (const { key, field, factor } of WHOLE_NUMBERS) {
    const value = numbers[field]![row]!;
    if (!Number.isNaN(value)) at = put(at, key, Math.round(value * factor) + 0); // -0 becomes 0.
  }
  return at;
}

/** The letters on the map, and a topic that identifies the same device on import. */
function deviceMembers(deviceId: string): string {
  const [user, ...rest] = deviceId.split(":");
  const parts = rest.length > 0 && user !== "" ? [user!, rest.join(":")] : [deviceId];
  const topic = ["owntracks", ...parts.map((part) => part.replaceAll(/[/+#]/g, "_"))].join("/");
  const tid = [...deviceId].slice(-2).join("");
  return `,"tid":${JSON.stringify(tid)},"topic":${JSON.stringify(topic)}`;
}

function stateMembers(tuple: string): string {
  const texts = JSON.parse(tuple) as readonly (string | null)[];
  const number = BATTERY_NUMBERS.get(texts[BATTERY_STATUS]);
  return number === undefined ? "" : `,"bs":${number}`;
}
