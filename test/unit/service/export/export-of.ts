import { join } from "node:path";
import type { WriteOptions } from "../../../../src/formats/write/record-writer.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import { DEFAULT_RETENTION } from "../../../../src/model/time/retention.ts";
import { createNodeFiles } from "../../../../src/runtime/node-files.ts";
import type { ExportQuery } from "../../../../src/service/export/export-formats.ts";
import type { Export, ExportDependencies } from "../../../../src/service/export/export-job.ts";
import { READING_SIZES } from "../../../../src/service/export/export-source.ts";
import { createExports, type ExportLimits, type Exports } from "../../../../src/service/export/exports.ts";
import type { ExportMakersOptions } from "../../../../src/service/export/maker/export-makers.ts";
import type { ArchiveApp } from "../../../support/archive-app.ts";
import { APP_ID } from "../../../support/test-app.ts";

export const PLAIN: WriteOptions = {
  zone: null,
  redact: false,
  recordSeparator: false,
  gapMs: 1_800_000,
  simplifyMeters: null,
};

export const EVERYTHING: ExportQuery = {
  appId: APP_ID as AppId,
  deviceIds: null,
  userId: null,
  originals: false,
  range: { startMs: 0, endMs: 2 ** 52 },
  format: "ndjson",
  options: PLAIN,
};

/** Exports of an app's directory with other parts than its own. */
export function exportsWith(
  app: ArchiveApp,
  parts: Partial<ExportDependencies & ExportMakersOptions>,
  limits?: ExportLimits,
): Exports {
  const archiveDirectory = join(app.dataDir, "archive");
  const dependencies: ExportDependencies & ExportMakersOptions = {
    hot: app.directory.hot,
    clock: app.clock,
    retention: DEFAULT_RETENTION,
    scheduler: new Scheduler(),
    archive: () => app.directory.archive,
    acknowledgedParts: async () => new Set(),
    sizes: READING_SIZES,
    pathOf: (file) => join(archiveDirectory, file),
    files: createNodeFiles(),
    archiveDirectory,
    scratchDirectory: join(archiveDirectory, "scratch"),
    stallMs: 60_000,
    startHelper: null,
    onNote: () => {},
    ...parts,
  };
  return createExports(dependencies, limits);
}

/** Begins an export that must be possible. */
export async function begun(exports: Exports, query: Partial<ExportQuery> = {}): Promise<Export> {
  const started = await exports.start({ ...EVERYTHING, ...query }, { signal: new AbortController().signal });
  if (!started.ok) throw new Error(JSON.stringify(started.error));
  return started.value;
}

export async function bytesOf(taken: Export): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of taken.pieces()) pieces.push(piece);
  return Buffer.concat(pieces);
}

export type Line = Readonly<Record<string, unknown>>;

/** The lines of an export as NDJSON. */
export async function linesOf(exports: Exports, query: Partial<ExportQuery> = {}): Promise<Line[]> {
  const text = (await bytesOf(await begun(exports, query))).toString();
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
}
