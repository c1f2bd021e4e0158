import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { dayFolder } from "../../../../src/archive/archive-files.ts";
import { ARCHIVE_COLUMNS } from "../../../../src/archive/columns.ts";
import type { Part } from "../../../../src/archive/manifest.ts";
import type { ArchiveScan } from "../../../../src/archive/read/archive-scan.ts";
import { findConstants } from "../../../../src/archive/read/part-chunks.ts";
import {
  CHUNKS_A_GROUP,
  type FileChunks,
  footerBytes,
  parseFooter,
} from "../../../../src/archive/read/part-footer.ts";
import type { PartReader } from "../../../../src/archive/read/part-reader.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { type UtcDay, utcDayOf, utcDayStartMs } from "../../../../src/model/time/utc-day.ts";
import { recordsOf } from "../../../support/answers/page-records.ts";
import type { Report } from "../../../support/reports/batches.ts";
import { type PlainRow, plainScan, writePart } from "../write/plain-parts.ts";
import { createFolderReader } from "./reader-of-folder.ts";

/*
 * Parts most of whose columns are alike in most of their row groups, in all the ways that tell against believing it:
 * between groups, files and apps, with nulls among them, and with texts that files cut short.
 */

const DIRECTORY = mkdtempSync(join(tmpdir(), "wherehouse-constant-"));
const DAY = utcDayOf(Date.UTC(2026, 2, 1));
const APPS = ["app", "other"] as AppId[];
const DEVICES = ["a", "b", "c", "d", "e"];
const ROWS_A_DEVICE = 1000; // Some two devices a row group.
const LONG = "x".repeat(300);

let plain: DuckDBConnection;
let reader: PartReader;
const rows: PlainRow[] = [];
const parts: Part[] = [];

beforeAll(async () => {
  plain = await (await DuckDBInstance.create(":memory:")).connect();
  for (const [file, apps] of [APPS.slice(0, 1), APPS, APPS.slice(0, 1)].entries()) {
    const ofFile = apps.flatMap((app) =>
      DEVICES.flatMap((device, index) =>
        Array.from({ length: ROWS_A_DEVICE }, (_, row) => ({
          app,
          report: reportOf(file, app, device, index, row),
        })),
      ),
    );
    rows.push(...ofFile);
    const name = `${dayFolder((DAY + file) as UtcDay)}/00000001-000.parquet`;
    parts.push(await writePart(plain, DIRECTORY, name, ofFile));
  }
  reader = createFolderReader(DIRECTORY);
});

afterAll(() => {
  reader.close();
  rmSync(DIRECTORY, { recursive: true, force: true });
});

function reportOf(file: number, app: AppId, device: string, index: number, row: number): Report {
  return {
    device_id: device,
    timestamp: utcDayStartMs(DAY) + file * MS_PER_DAY + row * 1000,
    latitude: 42,
    longitude: -71,
    user_id: "user",
    brand: app, // Alike within an app.
    model: index < 2 ? "one" : "two", // Alike within some groups.
    os_version: String(file), // Alike within a file.
    sdk_version: "é\"'$1",
    is_mock: file === 1,
    ...(index === 0 ? {} : { network_status: true }), // A null is no value.
    ...(row % 500 === 0 ? {} : { os: "ios" }),
    app_version_name: LONG, // A file tells its beginning alone.
    ...(index === 3 ? { speed: 0 } : {}),
  };
}

async function footerOf({ file }: Part): Promise<Uint8Array> {
  const bytes = readFileSync(join(DIRECTORY, file));
  return bytes.subarray(-footerBytes(bytes));
}

test("parseFooter() finds what DuckDB's parquet_metadata() does", async () => {
  for (const part of parts) {
    const { rowGroups, bytes } = await parseFooter(await footerOf(part));
    const told = await plain.runAndReadAll(
      `SELECT row_group_id, path_in_schema, total_compressed_size, stats_min_value, stats_max_value
       FROM parquet_metadata('${join(DIRECTORY, part.file)}')`,
    );
    expect(rowGroups.length).toBeGreaterThan(1);
    expect(told.getRows()).toHaveLength(rowGroups.length * CHUNKS_A_GROUP);
    for (const [group, name, size, min, max] of told.getRows()) {
      const index = ARCHIVE_COLUMNS.findIndex((column) => column.name === name);
      const { appMin, appMax, deviceMin, deviceMax, startMs, lastMs } = rowGroups[Number(group)]!;
      expect(bytes[Number(group) * CHUNKS_A_GROUP + index]).toBe(Number(size));
      if (name === "app_id") expect([appMin, appMax] as unknown[]).toEqual([min, max]);
      if (name === "device_id") expect([deviceMin, deviceMax] as unknown[]).toEqual([min, max]);
      if (name === "timestamp") expect([startMs, lastMs]).toEqual([Number(min), Number(max)]);
    }
  }
});

test("parseFooter() ends with a RangeError, or something, whatever is cut off or flipped", async () => {
  const footer = await footerOf(parts[1]!);
  const read = (bytes: Uint8Array) =>
    parseFooter(bytes).catch((error) => expect(error).toBeInstanceOf(RangeError));
  for (let at = 0; at < footer.length - 8; at += 7) {
    await read(footer.slice(at));
    for (const mask of [1, 0x80, 0xff]) {
      const flipped = footer.slice();
      flipped[at] = flipped[at]! ^ mask;
      await read(flipped);
    }
  }
});

test("findConstants() tells what all of a scan have in common, and nothing else", async () => {
  const files: FileChunks[] = [];
  for (const part of parts) files.push(await parseFooter(await footerOf(part)));
  const columns = ["user_id", "brand", "model", "os_version", "is_mock", "network_status", "os", "speed"];
  columns.push("altitude", "app_version_name");
  const range = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER };
  const constants = (some: readonly FileChunks[], appId: AppId, deviceId: string | null) =>
    Object.fromEntries(findConstants(some, { appId, deviceId: deviceId as DeviceId | null, range }, columns));
  const always = { user_id: "user", brand: "app", altitude: null };
  expect(constants(files.slice(0, 1), APPS[0]!, null)).toEqual({
    ...always,
    os_version: "0",
    is_mock: "false",
  });
  expect(constants(files.slice(0, 1), APPS[0]!, "e")).toMatchObject({
    user_id: "user",
    altitude: null,
    model: "two",
  });
  expect(constants(files, APPS[0]!, "a")).not.toHaveProperty("network_status");
  expect(constants(files, APPS[0]!, "e")).not.toHaveProperty("os_version");
  for (const device of DEVICES) {
    expect(constants(files, APPS[0]!, device)).not.toHaveProperty("os");
    expect(constants(files, APPS[0]!, device)).not.toHaveProperty("app_version_name");
  }
  expect(constants(files, "zzz" as AppId, null)).toEqual({});
});

test("page() shows what columns have in common as if it had read them", async () => {
  const common = { userId: null, accuracyMetersMax: null, late: null } as const;
  for (const some of [[0], [1], [2], [0, 1], [1, 2], [0, 1, 2]]) {
    const ofFiles = rows.filter(({ report }) => some.includes(utcDayOf(report.timestamp as number) - DAY));
    for (const deviceId of [null, ...DEVICES] as (DeviceId | null)[]) {
      for (const appId of APPS) {
        const range = { startMs: utcDayStartMs(DAY), endMs: utcDayStartMs(DAY) + 3 * MS_PER_DAY };
        const scan: ArchiveScan = {
          ...common,
          appId,
          deviceId,
          range,
          parts: some.map((file) => parts[file]!),
        };
        const ofApp = { ...scan, parts: scan.parts.filter(({ apps }) => apps.has(appId)) };
        const answer = await reader.withSession(appId, new AbortController().signal, (session) =>
          session.page(ofApp, "asc", 0, 400),
        );
        if (!answer.ok) throw new Error("refused");
        expect(recordsOf(answer.value)).toEqual(plainScan(ofFiles, scan, [], "asc").slice(0, 400));
      }
    }
  }
});
