import type { SpeedUnit } from "../../clients/reading/speed.ts";
import type { ImportRules } from "../../import/reading/import-rules.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { AppId } from "../../model/ids.ts";
import type { Zone } from "../../model/time/zone.ts";
import type { FlagValues } from "../arguments/flag-row.ts";
import type { IMPORT_FLAGS } from "./flags.ts";

/** What is imported, and into what: a data directory or a running server. */
export interface ImportCommand {
  readonly kind: "import";
  readonly dataDir: string;
  /** Files and folders, and `-` for standard input. */
  readonly paths: readonly string[];
  readonly target: ImportTarget;
  readonly rules: ImportRules;
  /** The name of what all files hold; null has it found out. */
  readonly format: string | null;
  /** What is added to all times; `to_now` moves each file to the last 24 hours. */
  readonly shift: number | "to_now";
  readonly zone: Zone | null;
  readonly speedUnit: SpeedUnit | null;
  readonly waypoints: boolean;
  readonly semantic: boolean;
  /** Columns of tables by our fields' names. */
  readonly columns: ReadonlyMap<string, string>;
  readonly timeFormat: string | null;
  readonly passPhrases: readonly string[];
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
      /** Whose the key must be; null where nobody said. */
      readonly appId: AppId | null;
    };

type Values = FlagValues<typeof IMPORT_FLAGS>;

export function parseImport(
  values: Values,
  dataDir: string,
  paths: readonly string[],
): Result<ImportCommand, string> {
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
    kind: "import",
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
