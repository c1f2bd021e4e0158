import type { FenceExtents } from "../../formats/read/fences/fence-sink.ts";
import type { Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { DeviceId, UserId } from "../../model/ids.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../../model/location-fields.ts";
import type { AcceptedTimes } from "../../model/report.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import type { WatchDraft } from "../../model/watches/watch-rules.ts";
import type { TallySoFar } from "../tally/tally.ts";
import type { PreviewLine } from "./preview-lines.ts";
import type { UploadFormatName } from "./upload-formats.ts";

/*
 * Messages between the server and the process that reads an uploaded file. The server asks, the process answers once;
 * only `open` and `piece` have no answer.
 */

/** How a file is read. */
export interface UploadSettings {
  /** Null to recognise it by the file's beginning. */
  readonly format: UploadFormatName | null;
  /** The device of all points; null keeps those that the file names. */
  readonly deviceId: DeviceId | null;
  readonly userId: UserId | null;
  /** The zone of times without a zone, as `parseZone` takes it; null if such times are to be refused. */
  readonly zone: string | null;
  /** Times that can be stored. */
  readonly times: AcceptedTimes;
}

/** What a file has. */
export interface UploadSurvey {
  readonly format: UploadFormatName;
  /** How the file shows its format, in words for people. */
  readonly reason: string;
  readonly tally: TallySoFar;
  /** Where and why the rest of the file can't be read; null if it is whole. */
  readonly fault: string | null;
  readonly lines: readonly PreviewLine[];
}

/** The columns of a batch. Another process may have others if its files were replaced since this one started. */
export const BATCH_FORMAT = [...NUMBER_FIELDS, ...PROFILE_FIELDS, ...STATE_FIELDS]
  .map(({ name }) => name)
  .join();

export type ToUploadReader =
  | { readonly kind: "open"; readonly settings: UploadSettings }
  /** The next bytes of the file. */
  | { readonly kind: "piece"; readonly bytes: Uint8Array }
  /** The file has come to its end: read all of it. */
  | { readonly kind: "survey" }
  /** Send the next points, from the beginning again. */
  | { readonly kind: "next" }
  /** The file has come to its end, and is one of geofences: read all of it. */
  | { readonly kind: "read_fences"; readonly extents: FenceExtents }
  /** Send the next geofences. */
  | { readonly kind: "next_fences" };

export type UploadSurveyed = {
  readonly kind: "surveyed";
  readonly result: Result<UploadSurvey, ServiceError>;
};

export type FromUploadReader =
  /** Has started; `format` is that of the batches that it will send. */
  | { readonly kind: "ready"; readonly format: string }
  | UploadSurveyed
  /** Null at the end. */
  | { readonly kind: "batch"; readonly batch: ReportBatch | null }
  /** How many geofences the file has. */
  | { readonly kind: "fences_read"; readonly result: Result<number, ServiceError> }
  /** Some of them; none at the end. */
  | { readonly kind: "fences"; readonly drafts: readonly WatchDraft[] };
