import type { ReadOptions } from "../../formats/read/format.ts";
import type { ImportRules } from "../../import/reading/import-rules.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { AppId } from "../../model/ids.ts";
import { defineCommand, type Given } from "../arguments/command.ts";
import type { FlagValues } from "../arguments/flag-row.ts";
import { FORMAT_NAMES, IMPORT_FLAGS } from "./flags.ts";

const HELP_COLUMNS = 110;

export const IMPORT = defineCommand({
  name: "import",
  takes: "FILE|DIR|-...",
  summary: "take in what others have kept, from files",
  flags: IMPORT_FLAGS,
  help: {
    ways: ["--app APP", "--url URL --key KEY"],
    before: `Takes in files, folders and archives, straight into the data directory or, while a server runs on it,
through the server. What a file is, is found out from how it begins. In an empty data directory it makes a
first key for APP, shown once on a terminal, else written to the file first-key there.

Where points are older than the retention it stops before anything is written: settings set retention 10y (or
forever) keeps them, --skip-old leaves them out. --dry-run reads everything and writes nothing. Formats are
${wrapped(FORMAT_NAMES)}.`,
    after: `What is there already counts as such and changes nothing, so a file can be imported again. What can't be
used is skipped, counted by reason with the first places, and written one by one with --report.

Exit code 0: everything readable went in. 1: a file could not be read to its end, and what came before that
is kept; or the import was interrupted, or the data directory or server could not take more. 2: an option is
wrong or missing, such as the time zone that times are in.

An interrupted import (Ctrl-C, a crash) goes on where it was, with the same shift, when the same command is
given again. Its state is kept in imports/ in the data directory until then; with --url there too.`,
    example: (program) => `${program} import takeout.zip rides/ --app default --dry-run
  ${program} import takeout.zip rides/ --app default`,
  },
  parse: parseImport,
});

/** The words in lines that fit the help. */
function wrapped(words: readonly string[]): string {
  const lines = [""];
  for (const [index, word] of words.entries()) {
    const text = index < words.length - 1 ? `${word},` : word;
    const line = lines.at(-1)!;
    if (line.length + text.length + 1 > HELP_COLUMNS) lines.push(text);
    else lines[lines.length - 1] = line === "" ? text : `${line} ${text}`;
  }
  return lines.join("\n");
}

/** What is imported, and into what: a data directory or a running server. */
export interface ImportOptions extends Omit<ReadOptions, "beside"> {
  readonly dataDir: string;
  /** Files and folders, and `-` for standard input. */
  readonly paths: readonly string[];
  readonly target: ImportTarget;
  readonly rules: ImportRules;
  /** The name of what all files hold; null has it found out. */
  readonly format: string | null;
  /** What is added to all times; `to_now` moves each file to the last 24 hours. */
  readonly shift: number | "to_now";
  readonly unpackedBytesMax: number;
  readonly skipOld: boolean;
  readonly dryRun: boolean;
  /** Where to write what was skipped. */
  readonly report: string | null;
  readonly json: boolean;
}

export type ImportTarget =
  /** The app may be left open where nothing is written. */
  | { readonly kind: "directory"; readonly appId: AppId | null }
  | {
      readonly kind: "server";
      readonly url: string;
      readonly key: string;
      /** The app that the key must belong to; null accepts any. */
      readonly appId: AppId | null;
    };

type Values = FlagValues<typeof IMPORT_FLAGS>;

function parseImport({
  values,
  dataDir,
  positionals: paths,
}: Given<typeof IMPORT_FLAGS>): Result<ImportOptions, string> {
  if (paths.length === 0) return fail("import needs at least one file or folder, or - for standard input");
  if (paths.filter((path) => path === "-").length > 1) return fail("- can be given once");
  const { shiftMs, shiftToNow, fromMs, toMs, columns, speedUnit, passPhrase } = values;
  if (shiftMs !== null && shiftToNow) return fail("--shift and --shift-to-now exclude each other");
  const range = { startMs: fromMs ?? Number.NEGATIVE_INFINITY, endMs: toMs ?? Number.POSITIVE_INFINITY };
  if (range.startMs >= range.endMs) return fail("--from must not be after --to");
  const target = parseTarget(values);
  if (!target.ok) return target;
  const { deviceId, userId, format, zone, waypoints, semantic, timeFormat, unpackedBytesMax } = values;
  const { skipOld, dryRun, report, json } = values;
  return ok({
    dataDir,
    paths,
    target: target.value,
    rules: { deviceId, userId, range },
    format,
    shift: shiftToNow ? "to_now" : (shiftMs ?? 0),
    zone,
    speedUnit: speedUnit === "auto" ? null : speedUnit,
    waypoints,
    semantic,
    columns: new Map(columns),
    timeFormat,
    passPhrases: passPhrase === null ? [] : [passPhrase],
    unpackedBytesMax,
    skipOld,
    dryRun,
    report,
    json,
  });
}

function parseTarget({ appId, url, key, dryRun }: Values): Result<ImportTarget, string> {
  if (url === null) {
    if (appId === null && !dryRun) return fail("import needs --app, or --url with --key");
    return ok({ kind: "directory", appId });
  }
  if (key === null) return fail("--url needs --key, or the key in WHEREHOUSE_KEY");
  return ok({ kind: "server", url, key, appId });
}
