import type { Api } from "../api/api.ts";
import { ApiError, sentenceOf } from "../api/api-error.ts";
import { type CorrectionRecord, readCorrection, readCorrections, sendUndo } from "./correction-requests.ts";

/* The corrections of a device that a user may undo. */

export interface ActiveParts {
  readonly api: Pick<Api, "get" | "send">;
  readonly mayEdit: () => boolean;
  readonly onUndone: (correction: CorrectionRecord) => void;
  /** Another user, or a command, has made or undone corrections of the device. */
  readonly onOthers: () => void;
  readonly changed: () => void;
}

/** A correction that can't be undone before later ones of the same records. */
export interface Blocked {
  readonly correction: CorrectionRecord;
  readonly by: readonly CorrectionRecord[];
}

/** The ids of corrections in a message of the server. */
const IDS = /\b[0-9A-HJKMNP-TV-Z]{26}\b/g;
/** More are not listed: each is another request. */
const BLOCKERS_MAX = 5;

/** How often the list is loaded again. */
const REFRESH_MS = 15_000;

/** The corrections of the chosen device that can be undone. */
export class ActiveCorrections {
  readonly #parts: ActiveParts;
  #deviceId: string | null = null;
  /** Null until they are loaded. */
  #all: readonly CorrectionRecord[] | null = null;
  #request = new AbortController();
  #askedMs = 0;
  #fault: string | null = null;
  #blocked: Blocked | null = null;
  /** What this page has corrected, on any device, the last one at the end. */
  #own: CorrectionRecord[] = [];
  readonly #undoing = new Set<string>();

  constructor(parts: ActiveParts) {
    this.#parts = parts;
  }

  /** The newest ones first. */
  get all(): readonly CorrectionRecord[] {
    return this.#all ?? [];
  }

  /** Why the last correction could not be undone. */
  get fault(): string | null {
    return this.#fault;
  }

  /** The corrections that must be undone before the one that the user wanted to undo; null if none is in the way. */
  get blocked(): Blocked | null {
    return this.#blocked;
  }

  isUndoing(id: string): boolean {
    return this.#undoing.has(id);
  }

  /** Lists those of another device. */
  use(deviceId: string | null): void {
    if (deviceId === this.#deviceId) return;
    this.#deviceId = deviceId;
    this.#all = null;
    this.#forgetFailure();
    this.#load();
  }

  /** Adds what this page has corrected. */
  add(correction: CorrectionRecord): void {
    this.#own.push(correction);
    this.#forgetFailure();
    if (correction.device_id === this.#deviceId) this.#all = [correction, ...this.all];
  }

  async undo(correction: CorrectionRecord): Promise<void> {
    const { id } = correction;
    if (this.#undoing.has(id)) return;
    this.#undoing.add(id);
    this.#fault = null;
    this.#parts.changed();
    try {
      await sendUndo(this.#parts.api, id);
      this.#drop(id);
      this.#parts.onUndone(correction);
    } catch (error) {
      await this.#fail(correction, error);
    } finally {
      this.#undoing.delete(id);
      this.#parts.changed();
    }
  }

  /** Undoes what this page has corrected last on the device. Returns whether there was anything. */
  undoLast(): boolean {
    const last = this.#own.findLast(({ device_id }) => device_id === this.#deviceId);
    if (last === undefined) return false;
    void this.undo(last);
    return true;
  }

  /** Loads the list again if it is old. The page calls it once a second. */
  refresh(nowMs: number): void {
    if (nowMs > this.#askedMs + REFRESH_MS) this.#load(nowMs);
  }

  /** Forgets everything at the end of a session. */
  close(): void {
    this.use(null);
    this.#own = [];
  }

  async #fail(correction: CorrectionRecord, error: unknown): Promise<void> {
    const { id } = correction;
    const deviceId = this.#deviceId;
    const refusal = error instanceof ApiError && error.isOurs ? error : null;
    if (refusal?.status === 404) this.#drop(id);
    const ids = refusal?.status === 409 ? [...refusal.message.matchAll(IDS)].map(([each]) => each) : [];
    const by = await this.#readAll(ids.filter((each) => each !== id));
    this.#load(); // Another correction may be in the way that is not listed yet.
    if (deviceId !== this.#deviceId) return;
    this.#blocked = by.length === 0 ? null : { correction, by };
    this.#fault = by.length === 0 ? sentenceOf(error) : null;
  }

  /** Those corrections, as far as they can be read. */
  async #readAll(ids: readonly string[]): Promise<readonly CorrectionRecord[]> {
    const unique = [...new Set(ids)].slice(0, BLOCKERS_MAX);
    const read = unique.map(async (id) => {
      try {
        return [this.all.find((each) => each.id === id) ?? (await readCorrection(this.#parts.api, id))];
      } catch {
        return [];
      }
    });
    return (await Promise.all(read)).flat();
  }

  #forgetFailure(): void {
    this.#fault = null;
    this.#blocked = null;
  }

  #drop(id: string): void {
    const isOther = (correction: CorrectionRecord) => correction.id !== id;
    this.#own = this.#own.filter(isOther);
    if (this.#all !== null) this.#all = this.#all.filter(isOther);
    if (this.#blocked === null) return;
    const by = this.#blocked.by.filter(isOther);
    const isOver = by.length === 0 || this.#blocked.correction.id === id;
    this.#blocked = isOver ? null : { ...this.#blocked, by };
  }

  #load(nowMs = Date.now()): void {
    this.#request.abort();
    this.#request = new AbortController();
    if (this.#deviceId === null || !this.#parts.mayEdit()) return;
    this.#askedMs = nowMs;
    void this.#read(this.#deviceId, this.#all, this.#request.signal);
  }

  async #read(
    deviceId: string,
    before: readonly CorrectionRecord[] | null,
    signal: AbortSignal,
  ): Promise<void> {
    let all: readonly CorrectionRecord[];
    try {
      all = await readCorrections(this.#parts.api, deviceId, signal);
    } catch {
      return; // The next refresh tries again.
    }
    if (signal.aborted || this.#all !== before) return; // This page has changed it meanwhile.
    this.#all = all;
    if (before !== null && idsOf(all) !== idsOf(before)) this.#parts.onOthers();
    this.#parts.changed();
  }
}

function idsOf(corrections: readonly CorrectionRecord[]): string {
  return corrections
    .map(({ id }) => id)
    .toSorted()
    .join();
}
