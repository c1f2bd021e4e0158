import { type Api, itemPath } from "../api/api.ts";
import type { TimeRange } from "../time/local-day.ts";
import type { ChangeMembers } from "./change.ts";
import type { SelectedRecords } from "./selection.ts";

/* What the page asks about suspicious positions and corrections, and the server's answers as far as it uses them. */

/** `GET /api/v1/devices/{id}/outliers`. */
export interface OutliersAnswer {
  /** All of them; the list may be shorter. */
  readonly total: number;
  readonly outliers: readonly Outlier[];
}

export interface Outlier {
  readonly timestamp: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly reason: "jump" | "zero_position" | "inaccurate";
  /** Meters per second; absent if it is no jump. */
  readonly speed_mps?: number;
}

/** What `POST /api/v1/corrections` takes. */
export type CorrectionBody = SelectedRecords & { readonly note?: string } & (
    | ChangeMembers
    | { readonly action: "move"; readonly latitude: number; readonly longitude: number }
  );

/** A correction, as `POST` and `GET /api/v1/corrections` answer it. */
export interface CorrectionRecord {
  readonly id: string;
  readonly action: string;
  readonly device_id: string;
  readonly records: number;
  /** Unix ms of its first and its last record. */
  readonly first: number;
  readonly last: number;
  readonly created: number;
  /** The id of the key. */
  readonly created_by: string;
  readonly note?: string | null;
  /** Where a moved record is now. */
  readonly latitude?: number;
  readonly longitude?: number;
  /** How much later records are now. */
  readonly by_ms?: number;
  /** Which device or user records belong to now. */
  readonly to_device_id?: string;
  readonly to_user_id?: string;
}

const CORRECTIONS = "/api/v1/corrections";
/** More would be a long list; older ones are still there for the command line. */
const LISTED_MAX = 50;
const KEY_BYTES = 16;

export function readOutliers(
  api: Pick<Api, "get">,
  deviceId: string,
  { startMs, endMs }: TimeRange,
  accuracyMax: number | null,
  signal: AbortSignal,
): Promise<OutliersAnswer> {
  const path = `/api/v1/devices/${encodeURIComponent(deviceId)}/outliers`;
  return api.get(path, { start: startMs, end: endMs, max_accuracy: accuracyMax }, signal);
}

/** The active corrections of a device, as the server orders them. */
export async function readCorrections(
  api: Pick<Api, "get">,
  deviceId: string,
  signal: AbortSignal,
): Promise<readonly CorrectionRecord[]> {
  const query = { device_id: deviceId, state: "active", limit: LISTED_MAX };
  const answer = await api.get<{ readonly corrections: readonly CorrectionRecord[] }>(
    CORRECTIONS,
    query,
    signal,
  );
  return answer.corrections;
}

export async function readCorrection(api: Pick<Api, "get">, id: string): Promise<CorrectionRecord> {
  const answer = await api.get<{ readonly correction: CorrectionRecord }>(itemPath(CORRECTIONS, id));
  return answer.correction;
}

/** How many records a correction would touch. */
export async function countRecords(api: Pick<Api, "send">, body: CorrectionBody): Promise<number> {
  const path = `${CORRECTIONS}?dry_run=true`;
  const answer = await api.send<{ readonly correction: { readonly records: number } }>("POST", path, body);
  return answer.correction.records;
}

/** The server makes one correction, even if the request is sent again with the same key. */
export async function sendCorrection(
  api: Pick<Api, "send">,
  body: CorrectionBody,
  idempotencyKey: string,
): Promise<CorrectionRecord> {
  const headers = { "idempotency-key": idempotencyKey };
  const answer = await api.send<{ readonly correction: CorrectionRecord }>(
    "POST",
    CORRECTIONS,
    body,
    headers,
  );
  return answer.correction;
}

export async function sendUndo(api: Pick<Api, "send">, id: string): Promise<void> {
  await api.send("DELETE", itemPath(CORRECTIONS, id));
}

/** Gives each request an idempotency key: the same one if it is repeated after a failure. */
export class RequestKeys {
  #body = "";
  #key = "";

  /** The key of a request with this body. */
  keyOf(body: CorrectionBody): string {
    const text = JSON.stringify(body);
    if (text !== this.#body) this.#key = createIdempotencyKey();
    this.#body = text;
    return this.#key;
  }

  /** The next request gets another key, even if its body is the same. */
  forget(): void {
    this.#body = "";
  }
}

/** A new key for one correction. `crypto.randomUUID` is missing on pages that are not secure. */
function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The `note` member of a request; absent if the note is empty. */
export function noteMembers(note: string): { readonly note?: string } {
  return note.trim() === "" ? {} : { note: note.trim() };
}
