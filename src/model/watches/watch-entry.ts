import { Buffer } from "node:buffer";
import { padded, type Views } from "../../lib/frames/views.ts";
import { isObject } from "../../lib/is-object.ts";
import { FormatVersionError, parseMembers, refuseStrangers } from "../../lib/text/versioned-json.ts";
import { type AppId, parseAppId } from "../ids.ts";
import type { Area, Line } from "./area.ts";
import {
  type AlertRules,
  type FenceRules,
  LOOK_DEFAULT,
  RULES_DEFAULTS,
  type WatchDraft,
  type WatchKind,
  type WatchLook,
  type WatchTerms,
} from "./watch-rules.ts";

/*
 * The entry of a fence or an alert, padded with zeros to a multiple of 8:
 *
 *    0  u8   kind, 7
 *    1  u8   bytes of the app id
 *    2  u8   change: 1 set, 2 delete
 *    3  u8   zero
 *    4  u32  bytes of the members
 *    8  u32  numbers
 *   12  u32  zero
 *   16  app id, members (JSON); zeros up to 8
 *       longitudes and latitudes of the area's lines, f64
 *
 * Rules and looks have only the members that differ from the defaults.
 */
export const WATCH_KIND = 7;

/** An app gets a fence or an alert, another version of it, or loses it. */
export interface WatchEntry {
  readonly kind: "watch";
  readonly appId: AppId;
  readonly id: string;
  readonly watchKind: WatchKind;
  readonly atMs: number;
  /** Null deletes it. */
  readonly draft: WatchDraft | null;
  /** Entries of one import take effect together, with the last of them; null for an entry by itself. */
  readonly part: ImportPart | null;
  /** In a seal's file, what the entries before it were; null in the log. */
  readonly past: WatchPast | null;
}

export interface ImportPart {
  readonly importId: string;
  /** Counts from 0. */
  readonly index: number;
  readonly count: number;
}

export interface WatchPast {
  /** The number of the version that the entry makes. */
  readonly version: number;
  readonly createdMs: number;
  /** When any of it changed last. */
  readonly changedMs: number;
}

const HEAD_BYTES = 16;
const SET = 1;
const DELETE = 2;

/** The encoded entry behind `headroomBytes` for the caller, a multiple of 8. */
export function encodeWatchEntry(entry: WatchEntry, headroomBytes: number): Uint8Array<ArrayBuffer> {
  const { appId, draft } = entry;
  const lines = draft === null ? [] : linesOf(draft.terms);
  const json = Buffer.from(JSON.stringify(membersOf(entry)));
  const contentAt = headroomBytes + HEAD_BYTES;
  const numbersAt = padded(contentAt + appId.length + json.length);
  const numbers = lines.reduce((sum, line) => sum + line.length, 0);
  const encoded = new Uint8Array(numbersAt + 8 * numbers);
  const bytes = Buffer.from(encoded.buffer);
  bytes[headroomBytes] = WATCH_KIND;
  bytes[headroomBytes + 1] = bytes.write(appId, contentAt, "latin1");
  bytes[headroomBytes + 2] = draft === null ? DELETE : SET;
  bytes.writeUInt32LE(json.length, headroomBytes + 4);
  bytes.writeUInt32LE(numbers, headroomBytes + 8);
  bytes.set(json, contentAt + appId.length);
  const column = new Float64Array(encoded.buffer, numbersAt, numbers);
  let at = 0;
  for (const line of lines) {
    column.set(line, at);
    at += line.length;
  }
  return encoded;
}

/** What an entry counts besides its rules, its look and its corners. */
const OVERHEAD_BYTES = 128;

/** The bytes that a fence or an alert counts of its app's share: about those of its entry. */
export function watchBytes({ draft }: WatchEntry): number {
  if (draft === null) return 0;
  const { look, terms } = draft;
  const numbers = linesOf(terms).reduce((sum, line) => sum + line.length, 0);
  const lookBytes = look === LOOK_DEFAULT ? 0 : Buffer.byteLength(JSON.stringify(look));
  const isDefault = terms.rules === RULES_DEFAULTS[terms.kind];
  return (
    OVERHEAD_BYTES +
    8 * numbers +
    lookBytes +
    (isDefault ? 0 : Buffer.byteLength(JSON.stringify(terms.rules)))
  );
}

function linesOf(terms: WatchTerms): readonly Line[] {
  if (terms.kind === "alert" || terms.area.type === "Point") return [];
  return terms.area.type === "LineString" ? [terms.area.line] : terms.area.polygons.flat();
}

function membersOf({ id, watchKind, atMs, draft, part, past }: WatchEntry) {
  const members = {
    id,
    watchKind,
    atMs,
    ...(part === null ? {} : { part }),
    ...(past === null ? {} : { past }),
  };
  if (draft === null) return members;
  const { look, terms } = draft;
  return {
    ...members,
    look: differences(look, LOOK_DEFAULT),
    rules: differences(terms.rules, RULES_DEFAULTS[terms.kind]),
    ...(terms.kind === "fence" ? { area: areaMembers(terms.area) } : {}),
  };
}

function areaMembers(area: Area) {
  if (area.type === "Point") return area;
  if (area.type === "LineString") return { type: area.type, bufferMeters: area.bufferMeters };
  return { type: area.type, rings: area.polygons.map((polygon) => polygon.map((ring) => ring.length)) };
}

function differences<Members extends object>(members: Members, defaults: Members): Partial<Members> {
  const entries = Object.entries(members) as [keyof Members, unknown][];
  return Object.fromEntries(
    entries.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(defaults[name])),
  ) as Partial<Members>;
}

/** In messages. */
const WATCH = "fence or alert";

const KNOWN_MEMBERS: readonly string[] = [
  ...["id", "watchKind", "atMs", "part", "past", "look", "rules", "area"],
];

/**
 * The entry of this kind from `start` to `end`, both 8-aligned; null if the bytes are not valid. Throws a
 * `FormatVersionError`, which names `path`, if it has a member that a newer version added.
 */
export function decodeWatchEntry(
  { bytes, f64 }: Views,
  start: number,
  end: number,
  path: string,
): WatchEntry | null {
  if (start + HEAD_BYTES > end || end > bytes.length) return null;
  const jsonAt = start + HEAD_BYTES + bytes[start + 1]!;
  const jsonEnd = jsonAt + bytes.readUInt32LE(start + 4);
  const numbersAt = padded(jsonEnd);
  if (numbersAt + 8 * bytes.readUInt32LE(start + 8) !== end) return null;
  const appId = parseAppId(bytes.toString("latin1", start + HEAD_BYTES, jsonAt));
  const members = parseMembers(bytes.toString("utf8", jsonAt, jsonEnd));
  if (appId === null || members === null) return null;
  refuseStrangers(WATCH, path, members, KNOWN_MEMBERS);
  const { id, watchKind, atMs, part = null, past = null } = members;
  if (typeof id !== "string" || !Number.isSafeInteger(atMs)) return null;
  if (watchKind !== "fence" && watchKind !== "alert") return null;
  if (!isPart(part) || !isPast(past)) return null;
  const common = { kind: "watch", appId, id, watchKind, atMs: atMs as number, part, past } as const;
  const change = bytes[start + 2]!;
  if (change === DELETE) return numbersAt === end ? { ...common, draft: null } : null;
  if (change > DELETE) throw new FormatVersionError(WATCH, path, "known changes", `change ${change}`);
  const draft = decodeDraft(watchKind, members, f64.subarray(numbersAt / 8, end / 8), path);
  return change === SET && draft !== null ? { ...common, draft } : null;
}

function isPart(value: unknown): value is ImportPart | null {
  if (value === null) return true;
  if (!isObject(value) || typeof value.importId !== "string") return false;
  return Number.isSafeInteger(value.index) && Number.isSafeInteger(value.count);
}

function isPast(value: unknown): value is WatchPast | null {
  if (value === null) return true;
  return (
    isObject(value) &&
    [value.version, value.createdMs, value.changedMs].every((number) => Number.isSafeInteger(number))
  );
}

function decodeDraft(
  kind: WatchKind,
  members: Record<string, unknown>,
  numbers: Float64Array,
  path: string,
): WatchDraft | null {
  const look = withDefaults(members.look, LOOK_DEFAULT, path);
  const rules = withDefaults<FenceRules | AlertRules>(members.rules, RULES_DEFAULTS[kind], path);
  if (look === null || rules === null) return null;
  if (kind === "alert") return { look, terms: { kind, rules: rules as AlertRules } };
  const area = decodeArea(members.area, numbers, path);
  return area === null ? null : { look, terms: { kind, rules: rules as FenceRules, area } };
}

/** The defaults themselves if nothing differs from them, so that many fences share them. */
function withDefaults<Members extends WatchLook | FenceRules | AlertRules>(
  value: unknown,
  defaults: Members,
  path: string,
): Members | null {
  if (!isObject(value)) return null;
  refuseStrangers(WATCH, path, value, Object.keys(defaults));
  return Object.keys(value).length === 0 ? defaults : { ...defaults, ...(value as Partial<Members>) };
}

function decodeArea(value: unknown, numbers: Float64Array, path: string): Area | null {
  if (!isObject(value)) return null;
  const { type } = value;
  if (type === "Point") {
    const { latitude, longitude, radiusMeters } = value;
    refuseStrangers(WATCH, path, value, ["type", "latitude", "longitude", "radiusMeters"]);
    const areNumbers = [latitude, longitude, radiusMeters].every((number) => typeof number === "number");
    return areNumbers && numbers.length === 0 ? (value as unknown as Area) : null;
  }
  if (type === "LineString") {
    refuseStrangers(WATCH, path, value, ["type", "bufferMeters"]);
    const { bufferMeters } = value;
    if (typeof bufferMeters !== "number" || numbers.length < 4) return null;
    return { type, line: numbers.slice(), bufferMeters };
  }
  if (type !== "Polygon" && type !== "MultiPolygon")
    throw new FormatVersionError("fence", path, "known areas", `area "${String(type)}"`);
  refuseStrangers(WATCH, path, value, ["type", "rings"]);
  const { rings } = value;
  if (!Array.isArray(rings)) return null;
  let at = 0;
  const polygons: Line[][] = [];
  for (const lengths of rings) {
    if (!Array.isArray(lengths) || lengths.length === 0) return null;
    polygons.push([]);
    for (const length of lengths) {
      if (!Number.isSafeInteger(length) || length < 8 || length % 2 === 1) return null;
      polygons.at(-1)!.push(numbers.slice(at, at + length));
      at += length;
    }
  }
  return at === numbers.length && polygons.length > 0 ? { type, polygons } : null;
}
