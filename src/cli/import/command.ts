import type { ReadOptions } from "../../formats/read/format.ts";
import type { ImportRules } from "../../import/reading/import-rules.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { AppId } from "../../model/ids.ts";
import { type CommandInput, defineCommand } from "../arguments/command.ts";
import type { FlagValues } from "../arguments/flag-row.ts";
import { FORMAT_NAMES, IMPORT_FLAGS } from "./flags.ts";

const HELP_COLUMNS = 110;

export const IMPORT = defineCommand({
  name: "import",
  takes: "FILE|DIR|-...",
  summary: "import history from other apps",
  flags: IMPORT_FLAGS,
  help: {
    ways: ["--app APP", "--url URL --key KEY"],
    before: `Imports files, folders and archives: directly into the data directory or, while a server runs on it, through
the server. The command recognizes the format of a file by its first bytes. In an empty data directory it
creates a first key for APP: printed once on a terminal, otherwise written to the file first-key there.

If points are older than the retention, the import stops before it writes anything. To import them, raise the
retention (settings set retention 10y, or forever); to skip them, use --skip-old. --dry-run reads everything
and writes nothing. The formats are
${wrapped(FORMAT_NAMES)}.`,
    after: `Points that were imported before are counted and change nothing, so a file can be imported again. Points that
can't be used are skipped and counted by reason, with the first locations; --report lists each of them.

Exit code 0: everything readable was imported. 1: a file could not be read completely, and the points before
the fault were imported; or the import was interrupted, or the data directory or the server failed. 2: an
option is wrong or missing, such as the time zone of the files.

After an interruption (Ctrl-C, a crash), repeat the same command: the import continues where it stopped, with
the same shift. Until then its state is in imports/ in the data directory, with --url too.`,
    example: (program) => `${program} import takeout.zip rides/ --app default --dry-run
  ${program} import takeout.zip rides/ --app default`,
  },
  parse: parseImport,
});

/** The words, wrapped to the width of the help. */
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

export interface ImportOptions extends Omit<ReadOptions, "beside"> {
  readonly dataDir: string;
  /** Files and folders; `-` is standard input. */
  readonly paths: readonly string[];
  readonly target: ImportTarget;
  readonly rules: ImportRules;
  /** The format of all files; null recognizes it. */
  readonly format: string | null;
  /** Milliseconds to add to all times; `to_now` moves each file to the last 24 hours. */
  readonly shift: number | "to_now";
  readonly unpackedBytesMax: number;
  readonly skipOld: boolean;
  readonly dryRun: boolean;
  /** The file that lists skipped points. */
  readonly report: string | null;
  readonly json: boolean;
}

export type ImportTarget =
  /** A dry run needs no app. */
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
}: CommandInput<typeof IMPORT_FLAGS>): Result<ImportOptions, string> {
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
