import type { Box } from "../model/geo/box.ts";
import type { AppId } from "../model/ids.ts";
import { type WatchEntry, watchBytes } from "../model/watches/watch-entry.ts";
import type { WatchDraft, WatchKind, WatchLook, WatchTerms } from "../model/watches/watch-rules.ts";
import { createShape, type Shape } from "./shape.ts";

/**
 * A fence or an alert of an app, with the versions that its records may still need. There may be 100,000 of them, and
 * most have one version, so there is no list of it.
 */
export class HeldWatch {
  readonly appId: AppId;
  readonly id: string;
  readonly createdMs: number;
  look: WatchLook;
  /** What is in force now. */
  current: HeldVersion;
  /** What was in force before, in the order of their times. The list is replaced whenever any version changes. */
  older: readonly HeldVersion[] = NO_VERSIONS;
  /** When any of it changed last. An entry of the log that is not later has no effect. */
  changedMs: number;
  /** Null while it exists. */
  deletedMs: number | null = null;

  /** `appId` is one string for all of an app; `draft` is that of the entry. */
  constructor(appId: AppId, entry: WatchEntry, draft: WatchDraft) {
    const { id, atMs, past } = entry;
    this.appId = appId;
    this.id = id;
    this.createdMs = past?.createdMs ?? atMs;
    this.look = draft.look;
    this.current = new HeldVersion(this, past?.version ?? 1, entry, draft.terms);
    this.changedMs = past?.changedMs ?? atMs;
  }

  get kind(): WatchKind {
    return this.current.shape === null ? "alert" : "fence";
  }

  /** In the order of their times. */
  get versions(): readonly HeldVersion[] {
    return [...this.older, this.current];
  }
}

const NO_VERSIONS: readonly HeldVersion[] = [];

/** What is in force for records from `fromMs` on, until the next version. */
export class HeldVersion {
  readonly watch: HeldWatch;
  /** Counts from 1. */
  readonly number: number;
  readonly fromMs: number;
  /** The area, prepared; null of an alert. */
  readonly shape: Shape | null;
  readonly bytes: number;
  /** Change only by erasures, which take devices and users out of them. */
  rules: WatchTerms["rules"];

  /** `terms` are those of the entry. */
  constructor(watch: HeldWatch, number: number, entry: WatchEntry, terms: WatchTerms) {
    this.watch = watch;
    this.number = number;
    this.fromMs = entry.atMs;
    this.rules = terms.rules;
    this.bytes = watchBytes(entry);
    this.shape = terms.kind === "fence" ? createShape(terms.area) : null;
  }

  /** They are made when they are asked for: the shape has the area. */
  get terms(): WatchTerms {
    const { rules, shape } = this;
    return (
      shape === null ? { kind: "alert", rules } : { kind: "fence", rules, area: shape.area }
    ) as WatchTerms;
  }

  get boxes(): readonly Box[] {
    return this.shape?.boxes ?? [];
  }
}

/** Corners of its area, each once; a circle has one. */
export function vertexCount(terms: WatchTerms): number {
  if (terms.kind === "alert") return 0;
  const { area } = terms;
  if (area.type === "Point") return 1;
  if (area.type === "LineString") return area.line.length / 2;
  let count = 0;
  for (const polygon of area.polygons) for (const ring of polygon) count += ring.length / 2 - 1;
  return count;
}

/** Whether these terms need no new version. */
export function areSameTerms(one: WatchTerms, other: WatchTerms): boolean {
  return textOf(one) === textOf(other);
}

function textOf(terms: WatchTerms): string {
  return JSON.stringify(terms, (_, value) => (value instanceof Float64Array ? [...value] : value));
}
