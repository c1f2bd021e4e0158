import { crc32 } from "node:zlib";
import {
  checksumOf,
  encodeManifest,
  type Manifest,
  type Part,
  parseManifest,
  readManifest,
} from "../../../../src/archive/manifest.ts";
import { encodeKeyFile, type KeyRecord, PERMISSIONS, parseKeyFile } from "../../../../src/auth/key-file.ts";
import {
  encodePassPhraseFile,
  type PassPhrase,
  parsePassPhraseFile,
} from "../../../../src/auth/pass-phrases.ts";
import { TIER_NAMES } from "../../../../src/auth/tiers.ts";
import { readAcknowledged, writeAcknowledged } from "../../../../src/directory/damaged-files.ts";
import { encodeImportState, type ImportState, parseImportState } from "../../../../src/import/state.ts";
import { FormatVersionError } from "../../../../src/lib/text/versioned-json.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import type { UtcDay } from "../../../../src/model/time/utc-day.ts";
import { type Backup, encodeBackup, parseBackup } from "../../../../src/operator/backup/file.ts";
import { createSimulatedFiles } from "../../../support/disk/simulated-files.ts";
import { fixture } from "../support/fixtures.ts";
import { changeJson } from "../support/inputs/change-json.ts";
import { createDraw, type Draw } from "../support/inputs/draw.ts";
import { must, mustEqual, type Target } from "../support/target.ts";

/*
 * The files of JSON. What was written comes back. Any other bytes are refused in words, or are what they would be if
 * they were written again; where a checksum goes with them, no change of theirs passes for what was written.
 */

const encoder = new TextEncoder();

/** How the input makes a file: raw bytes, what the encoder writes, or that with changes. */
type Source<Value> =
  | { readonly kind: "written"; readonly value: Value; readonly bytes: Uint8Array }
  | { readonly kind: "changed" | "raw"; readonly bytes: Uint8Array };

function sourceOf<Value>(
  draw: Draw,
  make: (draw: Draw) => Value,
  encode: (value: Value) => Uint8Array,
  seal: (text: string) => string = (text) => text,
): Source<Value> {
  const how = draw.upTo(3);
  if (how === 0) return { kind: "raw", bytes: draw.rest() };
  const value = make(draw);
  const bytes = encode(value);
  if (how === 1) return { kind: "written", value, bytes };
  const text = new TextDecoder().decode(bytes);
  if (how === 2) return { kind: "changed", bytes: encoder.encode(seal(changeJson(draw, text))) };
  const at = draw.upTo(bytes.length - 1);
  const flipped = Uint8Array.from(bytes);
  flipped[at]! ^= 1 << draw.upTo(7);
  return { kind: "changed", bytes: flipped };
}

/** With the checksum of what the text holds now: a change that a bit alone would not make. */
function sealed(member: "manifest" | "backup", sumOf: (text: string) => number = crc32) {
  return (text: string): string => {
    try {
      const content = JSON.parse(text);
      return JSON.stringify({ ...content, crc: sumOf(JSON.stringify(content[member])) });
    } catch {
      return text;
    }
  };
}

export const keyFiles: Target = {
  name: "keys",
  bytesMax: 8192,
  seeds: () => [raw(fixture("data/keys.json"))],
  check(input) {
    const source = sourceOf(createDraw(input), (draw) => draw.list(4, () => keyRecord(draw)), encodeKeyFile);
    const parsed = parseKeyFile(source.bytes);
    if (source.kind === "written") {
      const expected = isUnique(source.value) ? { ok: true, value: source.value } : { ok: false, error: "" };
      const found = parsed.ok ? parsed : { ...parsed, error: "" };
      mustEqual(found, expected, "a key file gives its keys back, unless one is there twice");
    }
    if (!parsed.ok)
      return must(/^(it|its|key number \d+) /.test(parsed.error), "a fault is said in words", () => parsed);
    mustEqual(parseKeyFile(encodeKeyFile(parsed.value)), parsed, "keys that were read can be written");
    must(isUnique(parsed.value), "no key is there twice", () => parsed);
    for (const key of parsed.value) must(isSound(key), "a key has all that it needs", () => key);
  },
};

function isUnique(keys: readonly KeyRecord[]): boolean {
  const lists = [keys.map(({ id }) => id), keys.map(({ sha256 }) => sha256)];
  return lists.every((list) => new Set(list).size === list.length);
}

function isSoundView({ view, expiresMs }: Pick<KeyRecord, "view" | "expiresMs">): boolean {
  if (view === null) return true;
  const { deviceIds, notBeforeMs, precisionMeters } = view;
  const hasDevices =
    deviceIds.length > 0 && deviceIds.length <= 1000 && !deviceIds.includes(".." as DeviceId);
  const isBlur = precisionMeters === null || (precisionMeters >= 10 && precisionMeters <= 100_000);
  return hasDevices && isBlur && Number.isSafeInteger(notBeforeMs) && expiresMs !== null;
}

function isSound({ id, appId, permissions, tier, label, sha256, lastFour, ...key }: KeyRecord): boolean {
  const texts = `${id} ${sha256} ${lastFour} ${appId}`;
  const times = [key.createdMs, key.expiresMs ?? 0, key.revokedMs ?? 0];
  return (
    /^k_[0-9A-Za-z]{8} [0-9a-f]{64} [0-9A-Za-z]{4} [\w.-]{1,64}$/.test(texts) &&
    permissions.length > 0 &&
    permissions.every((name) => PERMISSIONS.includes(name)) &&
    isSoundView(key) &&
    permissions.includes("view") === (key.view !== null) &&
    TIER_NAMES.includes(tier) &&
    [...label].length <= 128 &&
    times.every((time) => Number.isSafeInteger(time) && time >= 0)
  );
}

/** An end goes with every view. */
function whatItMay(draw: Draw): Pick<KeyRecord, "permissions" | "view" | "expiresMs"> {
  const expiresMs = draw.upTo(2 ** 45);
  if (draw.chance(2)) {
    const permissions = PERMISSIONS.filter(
      (name, index) => name !== "view" && (index === 0 || draw.chance(2)),
    );
    return { permissions, view: null, expiresMs: draw.chance(2) ? expiresMs : null };
  }
  const deviceIds = ["bus", "\u{1F68C}".repeat(128), `van ${hex(draw, 2)}`].slice(
    0,
    1 + draw.upTo(2),
  ) as DeviceId[];
  const precisionMeters = draw.pick([null, 10, 500.5, 100_000]);
  return {
    permissions: ["view"],
    view: { deviceIds, notBeforeMs: draw.upTo(2 ** 45), precisionMeters },
    expiresMs,
  };
}

function keyRecord(draw: Draw): KeyRecord {
  const time = () => (draw.chance(2) ? draw.upTo(2 ** 45) : null);
  return {
    id: `k_${hex(draw, 8)}`,
    appId: `app.${hex(draw, 2)}` as AppId,
    ...whatItMay(draw),
    tier: draw.pick(TIER_NAMES),
    label: draw.pick(["", "van 7", "\u{1F68C}", "x".repeat(128)]),
    deviceId: draw.pick([null, "pixel7", "\u{1F4F1}".repeat(128)]),
    userId: draw.pick([null, "anna"]),
    makerId: draw.pick([null, "k_00000001"]),
    createdMs: draw.upTo(2 ** 45),
    lastFour: hex(draw, 4),
    revokedMs: time(),
    sha256: hex(draw, 64),
  };
}

export const passPhraseFiles: Target = {
  name: "pass-phrases",
  bytesMax: 4096,
  seeds: () => [
    encodePassPhraseFile([{ keyId: "k_00000001", appId: "app" as AppId, deviceId: null, text: "ü" }]),
  ],
  check(input) {
    const draw = createDraw(input);
    const source = sourceOf(draw, () => draw.list(4, () => passPhrase(draw)), encodePassPhraseFile);
    const parsed = parsePassPhraseFile(source.bytes);
    if (source.kind === "written")
      mustEqual(parsed, { ok: true, value: source.value }, "the file gives its pass phrases back");
    if (parsed.ok)
      mustEqual(
        parsePassPhraseFile(encodePassPhraseFile(parsed.value)),
        parsed,
        "what was read can be written",
      );
    else must(FAULT.test(parsed.error), "a fault is said in words, none of them from the file", () => parsed);
  },
};

const FAULT =
  /^(it is not a JSON object|its list of pass phrases is missing|its format version is missing|it has format version [\d.e+]+ of a newer program, and this program reads version 1|pass phrase number \d+ has no valid (keyId|appId|deviceId|text))$/;

function passPhrase(draw: Draw): PassPhrase {
  return {
    keyId: `k_${hex(draw, 8)}`,
    appId: `app.${hex(draw, 2)}` as AppId,
    deviceId: draw.pick([null, "pixel7", "anna:pixel7"]),
    text: draw.pick(["123", "correct horse ü", "\u{1F511}".repeat(128)]),
  };
}

/** Often one that another has too. */
function hex(draw: Draw, length: number): string {
  return draw
    .upTo(draw.chance(3) ? 2 : 2 ** 32)
    .toString(16)
    .padStart(length, "0")
    .slice(-length);
}

export const manifests: Target = {
  name: "manifest",
  bytesMax: 8192,
  seeds: () => [raw(fixture("data/archive/manifest.json"))],
  check(input) {
    const source = sourceOf(createDraw(input), manifestOf, encodeManifest, sealed("manifest", checksumOf));
    const parsed = parseManifest(source.bytes);
    if (source.kind === "written")
      mustEqual(parsed, { ok: true, value: source.value }, "a manifest comes back");
    mustEqualOrRefuse(() => readManifest(source.bytes, "manifest.json"), parsed.ok ? parsed.value : null);
    if (!parsed.ok) return;
    mustEqual(parseManifest(encodeManifest(parsed.value)), parsed, "a manifest that was read can be written");
  },
};

function manifestOf(draw: Draw): Manifest {
  const parts = () => draw.list(3, () => partOf(draw));
  const sealedDay = () => ({
    sequence: draw.upTo(2 ** 40),
    cleared: draw.upTo(2 ** 40),
    parts: parts(),
    lost: parts(),
  });
  const days = [...new Set(draw.list(4, () => draw.upTo(30_000)))].sort((a, b) => a - b) as UtcDay[];
  return {
    seal: draw.upTo(2 ** 20),
    lastSequence: draw.upTo(2 ** 40),
    erased: draw.upTo(2 ** 40),
    days: new Map(days.map((day) => [day, sealedDay()])),
    latest: draw.chance(2) ? parts() : null,
    expired: new Map(days.slice(2).map((day) => [day, { ...sealedDay(), sinceMs: draw.upTo(2 ** 45) }])),
    retention: draw.chance(2) ? `${draw.upTo(9999)}d` : null,
    standing: draw.chance(2) ? { ...partOf(draw), sequence: draw.upTo(2 ** 40) } : null,
  };
}

function partOf(draw: Draw): Part {
  const apps = [...new Set(draw.list(3, () => hex(draw, 2)))].map((name): [AppId, number] => [
    name as AppId,
    draw.upTo(2 ** 20),
  ]);
  return {
    file: `day=2026-01-02/${hex(draw, 8)}-000.parquet`,
    rows: draw.upTo(2 ** 20),
    bytes: draw.upTo(2 ** 30),
    crc: draw.upTo(2 ** 32 - 1),
    apps: new Map(apps),
    columns: hex(draw, 8),
  };
}

export const backups: Target = {
  name: "backup",
  bytesMax: 8192,
  seeds: () => [raw(fixture("backup/backup.json"))],
  check(input) {
    const source = sourceOf(createDraw(input), backupOf, encodeBackup, sealed("backup"));
    const parsed = parseBackup(source.bytes);
    if (source.kind === "written")
      mustEqual(parsed, { ok: true, value: source.value }, "a backup's list comes back");
    if (!parsed.ok) return must(["damaged", "newer"].includes(parsed.error.kind), "a fault is one of two");
    for (const { file } of parsed.value.files)
      mustEqual(escapes(file), false, `no file leads elsewhere, as ${file}`);
    mustEqual(parseBackup(encodeBackup(parsed.value)), parsed, "a list that was read can be written");
  },
};

function backupOf(draw: Draw): Backup {
  const folder = () => draw.pick(["wal", "archive/day=2026-01-02", "damaged", "archive/latest"]);
  return {
    takenMs: draw.upTo(2 ** 45),
    program: "0.2.0",
    lastSequence: draw.upTo(2 ** 40),
    files: draw.list(5, () => ({
      file: `${folder()}/${hex(draw, 8)}`,
      bytes: draw.upTo(2 ** 30),
      crc: draw.upTo(2 ** 32 - 1),
    })),
    problems: draw.list(2, () => draw.text(40)),
  };
}

/** Whether a path below a directory names anything outside of it. */
function escapes(file: string): boolean {
  const url = new URL(
    file
      .replaceAll("\\", "/")
      .split("/")
      .map((name) => encodeURIComponent(name.toWellFormed()))
      .join("/"),
    "file:///root/data/",
  );
  return !url.pathname.startsWith("/root/data/") || url.pathname === "/root/data/" || file.includes("\\");
}

export const importRecords: Target = {
  name: "imports",
  bytesMax: 4096,
  seeds: () => [],
  check(input) {
    const source = sourceOf(createDraw(input), importStateOf, encodeImportState);
    const parsed = parseImportState(source.bytes);
    if (source.kind === "written")
      mustEqual(parsed, { ok: true, value: source.value }, "an import's state comes back");
    if (!parsed.ok) return must(/^its? /.test(parsed.error), "a fault is said in words", () => parsed);
    mustEqual(
      parseImportState(encodeImportState(parsed.value)),
      parsed,
      "a state that was read can be written",
    );
  },
};

function importStateOf(draw: Draw): ImportState {
  const count = () => draw.upTo(2 ** 30);
  return {
    id: draw.text(12),
    startedMs: draw.upTo(2 ** 45),
    retention: "365d",
    shiftsMs: draw.list(3, () => draw.upTo(400) * 86_400_000 * draw.pick([1, -1]) + 0),
    position: { source: count(), things: count() },
    tallies: draw.list(2, () => ({
      points: count(),
      created: count(),
      sameTime: count(),
      alreadyThere: count(),
      resent: count(),
      skips: [{ reason: "no_time" as const, message: null, count: count(), places: [draw.text(20)] }],
      remarks: [["spread", count()]] as const,
      unreadable: [],
      leftOut: [["speed", count()]] as const,
      faults: count(),
      extent: null,
    })),
    reportBytes: count(),
  };
}

const DAMAGED = "/data/damaged";
const ACKNOWLEDGED = `${DAMAGED}/acknowledged.json`;

export const acknowledgedFiles: Target = {
  name: "acknowledged",
  bytesMax: 4096,
  seeds: () => [],
  async check(input) {
    const encode = (files: readonly object[]) => encoder.encode(JSON.stringify({ version: 1, files }));
    const make = (draw: Draw) => draw.list(4, () => ({ name: draw.text(20), bytes: draw.upTo(2 ** 40) }));
    const source = sourceOf(createDraw(input), make, encode);
    const files = createSimulatedFiles(new Map([[ACKNOWLEDGED, source.bytes]]));
    const known = await readAcknowledged(files, DAMAGED);
    if (source.kind === "written") mustEqual(known, source.value, "what was acknowledged comes back");
    for (const { name, bytes } of known)
      mustEqual([typeof name, typeof bytes], ["string", "number"], "it is well formed");
    if (known.length === 0) return;
    await writeAcknowledged(files, DAMAGED, known);
    mustEqual(await readAcknowledged(files, DAMAGED), known, "what was read can be written");
  },
};

function mustEqualOrRefuse(read: () => unknown, expected: unknown): void {
  let value: unknown;
  try {
    value = read();
  } catch (error) {
    must(error instanceof FormatVersionError, "only another version is thrown", () => String(error));
    return;
  }
  mustEqual(value, expected, "both ways of reading agree");
}

/** The input whose file is these bytes. */
function raw(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from([0, ...bytes]);
}
