import type { WriteOptions } from "../../formats/write/record-writer.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { AppId, DeviceId, UserId } from "../../model/ids.ts";
import type { LocalDate } from "../../model/time/range.ts";
import type { ExportFormat } from "../../service/export/export-formats.ts";
import type { FlagValues } from "../arguments/flag-row.ts";
import type { EXPORT_FLAGS } from "./flags.ts";

/** What is exported, from where and to where. */
export interface ExportCommand {
  readonly kind: "export";
  readonly dataDir: string;
  readonly source: ExportSource;
  readonly format: ExportFormat;
  readonly options: WriteOptions;
  /** None for all. */
  readonly deviceIds: readonly DeviceId[];
  readonly userId: UserId | null;
  /** Null for all that is there. */
  readonly from: LocalDate | null;
  /** Null for today. */
  readonly to: LocalDate | null;
  /** A path, or `-` for standard output; a directory where the export is split. */
  readonly out: string;
  readonly force: boolean;
  readonly packing: Packing | null;
  readonly split: Split | null;
}

export type Packing = "gzip" | "zstd";
export type Split = "day" | "month" | "device";

export type ExportSource =
  | { readonly kind: "directory"; readonly appId: AppId }
  | {
      readonly kind: "server";
      readonly url: string;
      readonly key: string;
      /** Whose the key must be; null where nobody said. */
      readonly appId: AppId | null;
    };

type Values = FlagValues<typeof EXPORT_FLAGS>;

/** Formats that are packed by themselves. */
const PACKED_FORMATS = ["parquet", "kmz"];

export function parseExport(values: Values, dataDir: string): Result<ExportCommand, string> {
  const { format, deviceIds, userId, from, to, out, force, packing, split } = values;
  const { zone, redact, recordSeparator, gapMs, simplifyMeters } = values;
  const fault = faultOf(values);
  if (fault !== null) return fail(fault);
  const source = parseSource(values);
  if (!source.ok) return source;
  const options = { zone, redact, recordSeparator, gapMs, simplifyMeters };
  const which = { deviceIds, userId, from, to };
  return ok({
    kind: "export",
    dataDir,
    source: source.value,
    format,
    options,
    ...which,
    out,
    force,
    packing,
    split,
  });
}

/** What doesn't go together; null where all does. */
function faultOf({ format, from, to, out, packing, split, simplifyMeters, redact, recordSeparator }: Values) {
  if (from !== null && to !== null && from > to) return "--from must not be after --to";
  if (split !== null && out === "-") return "--split needs --out, the directory to write the files to";
  if ((split === "day" || split === "month") && from === null) return `--split ${split} needs --from`;
  if (split !== null && redact)
    return "--redact numbers the devices of one file, so it does not go with --split";
  if (packing !== null && PACKED_FORMATS.includes(format.name))
    return `${format.name} is packed by itself: leave out --compress`;
  if (simplifyMeters !== null && !format.marksSimplified)
    return `${format.name} has no place to say that tracks were simplified: leave out --simplify`;
  if (recordSeparator && format.name !== "geojsonseq") return "--rs is for geojsonseq";
  return null;
}

function parseSource({ appId, url, key }: Values): Result<ExportSource, string> {
  if (url === null) {
    if (appId === null) return fail("export needs --app, or --url with --key");
    return ok({ kind: "directory", appId });
  }
  if (key === null) return fail("--url needs --key, or the key in WHEREHOUSE_KEY");
  return ok({ kind: "server", url, key, appId });
}
