import type { HeldWatch } from "../../geofences/held-watch.ts";
import type { WatchesOfApp, WatchStore } from "../../geofences/watch-store.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import { type ServiceError, unavailable } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import type { WatchEntry } from "../../model/watches/watch-entry.ts";
import type { WatchDraft, WatchKind } from "../../model/watches/watch-rules.ts";
import { createCorrectionId } from "../corrections/correction-id.ts";
import { Turns } from "../corrections/turns.ts";
import { refusalError } from "../ingest/ingest.ts";
import type { StandingAppend } from "../ingest/standing-append.ts";
import type { Caller } from "../queries/find-device.ts";
import { findWatch } from "./find-watches.ts";
import { findNoRoom, ROOM_LIMITS, type RoomLimits } from "./room.ts";

/** Who asks for a change, and when. */
export interface EditRequest extends Caller {
  readonly appId: AppId;
  readonly keyId: string;
  readonly nowMs: number;
}

/** A fence or an alert as it is now, and the entry of the log up to which it is that. */
export interface Edited {
  readonly watch: HeldWatch;
  readonly sequence: number;
}

/** Fences or alerts that an import made, in its order. */
export interface Imported {
  readonly ids: readonly string[];
  readonly sequence: number;
}

/**
 * Changes the fences and alerts of apps. What it answers is on disk and in force. Changes of an app are made one at a
 * time. The bounds of an app are checked by the node that is asked, so nodes together may exceed them by what is under
 * way.
 */
export interface EditWatches {
  create(request: EditRequest, draft: WatchDraft): Promise<Result<Edited, ServiceError>>;
  replace(request: EditRequest, id: string, draft: WatchDraft): Promise<Result<Edited, ServiceError>>;
  delete(request: EditRequest, kind: WatchKind, id: string): Promise<Result<Edited, ServiceError>>;
  /** Makes all of them or none; nothing if it is a dry run. */
  import(
    request: EditRequest,
    drafts: readonly WatchDraft[],
    isDryRun: boolean,
  ): Promise<Result<Imported, ServiceError>>;
}

export interface EditWatchesDependencies {
  readonly append: StandingAppend;
  readonly hot: { readonly watches: WatchStore; readonly visibleSequence: number };
  readonly scheduler: Scheduler;
  /** Defaults to those of a server. */
  readonly limits?: RoomLimits;
}

/** Entries of an import on the way to the disk: to encode them takes a millisecond. */
const APPENDS_MAX = 64;

export function createEditWatches(dependencies: EditWatchesDependencies): EditWatches {
  const editor = new WatchEditor(dependencies);
  const turns = new Turns();
  return {
    create: (request, draft) => turns.run(request, () => editor.create(request, draft)),
    replace: (request, id, draft) => turns.run(request, () => editor.replace(request, id, draft)),
    delete: (request, kind, id) => turns.run(request, () => editor.delete(request, kind, id)),
    import: (request, drafts, isDryRun) => turns.run(request, () => editor.import(request, drafts, isDryRun)),
  };
}

class WatchEditor {
  readonly #append: StandingAppend;
  readonly #hot: EditWatchesDependencies["hot"];
  readonly #scheduler: Scheduler;
  readonly #limits: RoomLimits;

  constructor({ append, hot, scheduler, limits = ROOM_LIMITS }: EditWatchesDependencies) {
    this.#append = append;
    this.#hot = hot;
    this.#scheduler = scheduler;
    this.#limits = limits;
  }

  async create(request: EditRequest, draft: WatchDraft): Promise<Result<Edited, ServiceError>> {
    const entry = newEntry(request, draft);
    const noRoom = await this.#findNoRoom(request, [entry], null);
    return noRoom === null ? this.#set(entry) : fail(noRoom);
  }

  async replace(request: EditRequest, id: string, draft: WatchDraft): Promise<Result<Edited, ServiceError>> {
    const kind = draft.terms.kind;
    const known = findWatch(this.#appOf(request.appId), kind, id);
    if (known === null) return fail(notFound(kind));
    const atMs = Math.max(request.nowMs, known.changedMs + 1);
    const entry = { ...newEntry(request, draft), id, atMs };
    const noRoom = await this.#findNoRoom(request, [entry], known);
    return noRoom === null ? this.#set(entry) : fail(noRoom);
  }

  async delete(request: EditRequest, kind: WatchKind, id: string): Promise<Result<Edited, ServiceError>> {
    const known = findWatch(this.#appOf(request.appId), kind, id);
    if (known === null) return fail(notFound(kind));
    const atMs = Math.max(request.nowMs, known.changedMs + 1);
    const common = { kind: "watch", appId: request.appId, id, watchKind: kind, atMs } as const;
    return this.#set({ ...common, draft: null, part: null, past: null });
  }

  async import(
    request: EditRequest,
    drafts: readonly WatchDraft[],
    isDryRun: boolean,
  ): Promise<Result<Imported, ServiceError>> {
    const importId = createCorrectionId(request.nowMs);
    const entries = drafts.map((draft, index): WatchEntry => {
      const part = { importId, index, count: drafts.length };
      return { ...newEntry(request, draft), part };
    });
    const noRoom = await this.#findNoRoom(request, entries, null);
    if (noRoom !== null) return fail(noRoom);
    if (isDryRun) return ok({ ids: [], sequence: this.#hot.visibleSequence });
    let sequence = 0;
    for (let from = 0; from < entries.length; from += APPENDS_MAX) {
      // They take effect with the last of them: if one is refused, there are none.
      const appends = entries.slice(from, from + APPENDS_MAX).map((entry) => this.#append(entry));
      for (const appended of await Promise.all(appends)) {
        if (!appended.ok) return fail(refusalError(appended.error));
        sequence = Math.max(sequence, appended.value);
      }
    }
    const ids = entries.map(({ id }) => id);
    const hasAll = ids.every((id) => this.#appOf(request.appId)?.byId.has(id) === true);
    return hasAll ? ok({ ids, sequence }) : fail(OTHERS_CHANGE);
  }

  /** Appends an entry and looks whether it took effect. */
  async #set(entry: WatchEntry): Promise<Result<Edited, ServiceError>> {
    const appended = await this.#append(entry);
    if (!appended.ok) return fail(refusalError(appended.error));
    const watch = this.#appOf(entry.appId)?.byId.get(entry.id);
    // Another node may have changed it at the same time.
    return watch?.changedMs === entry.atMs ? ok({ watch, sequence: appended.value }) : fail(OTHERS_CHANGE);
  }

  async #findNoRoom(
    { appId, signal }: EditRequest,
    entries: readonly WatchEntry[],
    replaced: HeldWatch | null,
  ): Promise<ServiceError | null> {
    const app = this.#appOf(appId);
    return this.#scheduler.runAtOnce(appId, signal, findNoRoom(app, entries, replaced, this.#limits));
  }

  #appOf(appId: AppId): WatchesOfApp | null {
    return this.#hot.watches.find(appId);
  }
}

const OTHERS_CHANGE = unavailable("another node changed it at the same time; send again", 1);

function newEntry({ appId, nowMs }: EditRequest, draft: WatchDraft): WatchEntry {
  const id = createCorrectionId(nowMs);
  const watchKind = draft.terms.kind;
  return { kind: "watch", appId, id, watchKind, atMs: nowMs, draft, part: null, past: null };
}

function notFound(kind: WatchKind): ServiceError {
  return { kind: kind === "fence" ? "fence_not_found" : "alert_not_found" };
}
