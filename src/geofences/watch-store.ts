import { assert } from "../lib/assert.ts";
import type { Steps } from "../lib/schedule/steps.ts";
import { type ErasedScope, isUnbounded } from "../model/erasure.ts";
import type { AppId, DeviceId, UserId } from "../model/ids.ts";
import { type WatchClockEntry, watchClockEntry } from "../model/watches/watch-clock-entry.ts";
import type { WatchEntry } from "../model/watches/watch-entry.ts";
import type { WatchDraft, WatchTerms } from "../model/watches/watch-rules.ts";
import { BoxIndex } from "./box-index.ts";
import { areSameTerms, HeldVersion, HeldWatch, vertexCount } from "./held-watch.ts";

/** Parts of an import that take effect in a step. To prepare an area of 1,000 corners takes 0.1 ms. */
const STEP_PARTS = 16;

/** Parts of an import whose others did not come within this were left by a process that ended. */
const IMPORT_MS_MAX = 3_600_000;

/** The fences and alerts of one app. */
export class WatchesOfApp {
  readonly appId: AppId;
  /** In the order in which they were made, also those that are deleted. */
  readonly byId = new Map<string, HeldWatch>();
  /** The alerts among them. */
  readonly alerts = new Map<string, HeldWatch>();
  /** All versions of all fences, by their areas. */
  readonly index = new BoxIndex<HeldVersion>();
  /** The parts of imports that wait for the others. */
  readonly pending = new Map<string, WatchEntry[]>();
  /** Bytes and vertices of all versions, which are limited. */
  bytes = 0;
  vertices = 0;
  /** Versions that make events by the clock. */
  timedVersions = 0;
  /** The last entry that changed any of them. */
  sequence = 0;

  constructor(appId: AppId) {
    this.appId = appId;
  }

  /** The fences or alerts that exist, in the order in which they were made. */
  *existing(kind: HeldWatch["kind"]): Iterable<HeldWatch> {
    for (const watch of this.byId.values()) if (watch.kind === kind && watch.deletedMs === null) yield watch;
  }

  /** Those that exist. */
  countOf(kind: HeldWatch["kind"]): number {
    return this.#counts[kind];
  }

  readonly #counts = { fence: 0, alert: 0 };

  /** Applies an entry. */
  set(entry: WatchEntry): void {
    const watch = this.byId.get(entry.id);
    if (entry.draft === null) this.#delete(watch, entry);
    else if (watch === undefined) this.#create(entry, entry.draft);
    else this.#change(watch, entry, entry.draft);
  }

  #create(entry: WatchEntry, draft: WatchDraft): void {
    const watch = new HeldWatch(this.appId, entry, draft);
    this.byId.set(watch.id, watch);
    if (watch.kind === "alert") this.alerts.set(watch.id, watch);
    this.#counts[watch.kind]++;
    this.#addVersion(watch.current);
  }

  #change(watch: HeldWatch, entry: WatchEntry, draft: WatchDraft): void {
    const { atMs, past } = entry;
    const isLater = past !== null || atMs > watch.changedMs;
    if (watch.deletedMs !== null || watch.kind !== entry.watchKind || !isLater) return;
    watch.changedMs = past?.changedMs ?? atMs;
    watch.look = draft.look;
    const { current, versions } = watch;
    if (past === null && areSameTerms(current.terms, draft.terms)) return;
    watch.current = new HeldVersion(watch, past?.version ?? current.number + 1, entry, draft.terms);
    watch.older = versions;
    this.#addVersion(watch.current);
  }

  #addVersion(version: HeldVersion): void {
    const { bytes, terms } = version;
    this.index.add(version);
    this.bytes += bytes;
    this.vertices += vertexCount(terms);
    this.timedVersions += Number(isTimed(terms));
  }

  #delete(watch: HeldWatch | undefined, { atMs, past }: WatchEntry): void {
    if (watch === undefined || watch.deletedMs !== null) return;
    if (past === null && atMs <= watch.changedMs) return;
    watch.deletedMs = atMs;
    watch.changedMs = atMs;
    this.#counts[watch.kind]--;
  }

  /** Forgets what no record from this instant on needs. */
  *forget(beforeMs: number): Steps<void> {
    for (const watch of this.byId.values()) {
      const { older, deletedMs } = watch;
      const isGone = deletedMs !== null && deletedMs < beforeMs;
      if (older.length === 0 && !isGone) continue;
      const { versions } = watch;
      const from = isGone ? versions.length : versions.findLastIndex(({ fromMs }) => fromMs <= beforeMs);
      if (from <= 0) continue;
      for (const version of versions.slice(0, from)) this.#dropVersion(version);
      watch.older = older.slice(from);
      if (isGone) for (const watches of [this.byId, this.alerts]) watches.delete(watch.id);
      yield;
    }
  }

  #dropVersion(version: HeldVersion): void {
    this.index.remove(version);
    this.bytes -= version.bytes;
    this.vertices -= vertexCount(version.terms);
    this.timedVersions -= Number(isTimed(version.terms));
  }

  /** Takes the ids of erased devices, or of an erased user, out of the rules. */
  erase(deviceIds: readonly DeviceId[], userId: UserId | null): void {
    for (const watch of this.byId.values())
      for (const version of watch.versions) {
        const rules = withoutIds(version.rules, deviceIds, userId);
        if (rules === version.rules) continue;
        version.rules = rules;
        watch.older = [...watch.older]; // Another list, by which others see that a version changed.
      }
    for (const [importId, parts] of this.pending)
      this.pending.set(
        importId,
        parts.map((entry) => {
          if (entry.draft === null) return entry;
          const { draft } = entry;
          const rules = withoutIds(draft.terms.rules, deviceIds, userId);
          return { ...entry, draft: { ...draft, terms: { ...draft.terms, rules } as WatchTerms } };
        }),
      );
  }
}

/** Whether the clock makes events by these terms. */
function isTimed(terms: WatchTerms): boolean {
  if (terms.rules.schedule !== null) return true;
  return terms.kind === "alert" ? terms.rules.type === "silent_for" : terms.rules.silenceMinutes !== null;
}

/** Returns `rules` themselves if they name none of them. A list that becomes empty stays: it applies to no device. */
function withoutIds<Rules extends WatchTerms["rules"]>(
  rules: Rules,
  deviceIds: readonly DeviceId[],
  userId: UserId | null,
): Rules {
  const { devices, users } = rules;
  const namesDevice = userId === null && devices?.some((id) => deviceIds.includes(id)) === true;
  const namesUser = userId !== null && users?.includes(userId) === true;
  if (!namesDevice && !namesUser) return rules;
  return {
    ...rules,
    ...(namesDevice ? { devices: devices!.filter((id) => !deviceIds.includes(id)) } : {}),
    ...(namesUser ? { users: users!.filter((id) => id !== userId) } : {}),
  };
}

/**
 * The fences and alerts of all apps. They change only by entries of the log, so replay and live traffic build the same.
 */
export class WatchStore {
  readonly #byApp = new Map<AppId, WatchesOfApp>();
  /** The last entry that is in here, or in the archive's file from which these were restored. */
  #sequence = 0;
  #clockMs = 0;

  get sequence(): number {
    return this.#sequence;
  }

  /** The clock of timed events. */
  get clockMs(): number {
    return this.#clockMs;
  }

  /** Whether the clock matters to anything. */
  get needsClock(): boolean {
    return this.#byApp.values().some(({ timedVersions }) => timedVersions > 0);
  }

  find(appId: AppId): WatchesOfApp | null {
    return this.#byApp.get(appId) ?? null;
  }

  apps(): Iterable<readonly [AppId, WatchesOfApp]> {
    return this.#byApp;
  }

  /** Puts an entry of the archive's file back, before any entry of the log. */
  restore(entry: WatchEntry | WatchClockEntry): void {
    assert(this.#sequence === 0, "fences and alerts are restored before the log is read");
    if (entry.kind === "watch_clock") {
      this.#clockMs = entry.atMs;
      return;
    }
    const app = this.#findOrAdd(entry.appId);
    if (entry.part === null) app.set(entry);
    else addPart(app, entry);
  }

  /** Ends the restoring: entries up to this one are in here. */
  endRestore(sequence: number): void {
    this.#sequence = sequence;
  }

  /** Applies an entry of the log, unless the archive's file had it. No other one may be applied between the steps. */
  *apply(entry: WatchEntry, sequence: number): Steps<void> {
    if (sequence <= this.#sequence) return;
    this.#sequence = sequence;
    const app = this.#findOrAdd(entry.appId);
    app.sequence = sequence;
    for (const [importId, [first]] of app.pending)
      if (first!.atMs < entry.atMs - IMPORT_MS_MAX) app.pending.delete(importId);
    if (entry.part === null) {
      app.set(entry);
      return;
    }
    const parts = addPart(app, entry);
    if (parts.length < entry.part.count) return;
    app.pending.delete(entry.part.importId);
    for (const [index, part] of parts.entries()) {
      app.set(part);
      if (index % STEP_PARTS === STEP_PARTS - 1) yield;
    }
  }

  /** Applies an entry of the clock. */
  setClock({ atMs }: WatchClockEntry, sequence: number): void {
    if (sequence <= this.#sequence) return;
    this.#sequence = sequence;
    this.#clockMs = Math.max(this.#clockMs, atMs);
  }

  /** Takes an erased subject out of the rules for an entry of the log, unless the file was written after it. */
  erase(appId: AppId, { deviceIds, userId, range }: ErasedScope, sequence: number): void {
    if (sequence <= this.#sequence || !isUnbounded(range)) return;
    this.#sequence = sequence;
    const app = this.find(appId);
    if (app === null) return;
    app.erase(deviceIds, userId);
    app.sequence = sequence;
  }

  /** Forgets what no record from this instant on needs. */
  *forget(beforeMs: number): Steps<void> {
    for (const app of this.#byApp.values()) yield* app.forget(beforeMs);
  }

  /** The clock as an entry for a file. */
  clockEntries(): readonly WatchClockEntry[] {
    return this.#clockMs === 0 ? [] : [watchClockEntry(this.#clockMs)];
  }

  /** All of them as entries for a file, as they are at the call. */
  entries(): Iterable<WatchEntry> {
    const watches = [...this.#byApp.values()].flatMap(({ byId }) =>
      Array.from(byId.values(), (watch) => ({ ...watch, kind: watch.kind })),
    );
    const pending = [...this.#byApp.values()].flatMap((app) => [...app.pending.values()].flat());
    return (function* () {
      for (const watch of watches) yield* entriesOf(watch);
      yield* pending;
    })();
  }

  #findOrAdd(appId: AppId): WatchesOfApp {
    let app = this.#byApp.get(appId);
    if (app === undefined) {
      app = new WatchesOfApp(appId);
      this.#byApp.set(appId, app);
    }
    return app;
  }
}

/** The parts of the import that have come by now, in their order. */
function addPart({ pending }: WatchesOfApp, entry: WatchEntry): readonly WatchEntry[] {
  const { importId } = entry.part!;
  const parts = pending.get(importId) ?? [];
  parts.push(entry);
  pending.set(importId, parts);
  return parts;
}

function* entriesOf(watch: Omit<HeldWatch, "versions">): Iterable<WatchEntry> {
  const { appId, id, kind: watchKind, look, createdMs, changedMs, deletedMs, older, current } = watch;
  const common = { kind: "watch", appId, id, watchKind, part: null } as const;
  const past = { createdMs, changedMs };
  for (const { number, fromMs, terms } of [...older, current])
    yield { ...common, atMs: fromMs, draft: { look, terms }, past: { ...past, version: number } };
  if (deletedMs !== null)
    yield { ...common, atMs: deletedMs, draft: null, past: { ...past, version: older.length + 1 } };
}
