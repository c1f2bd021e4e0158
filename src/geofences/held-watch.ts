import type { Box } from "../model/geo/box.ts";
import type { AppId } from "../model/ids.ts";
import type { WatchKind, WatchLook, WatchTerms } from "../model/watches/watch-rules.ts";
import { createShape, type Shape } from "./shape.ts";

/** A fence or an alert of an app, with the versions that its records may still need. */
export interface HeldWatch {
  readonly appId: AppId;
  readonly id: string;
  readonly kind: WatchKind;
  readonly createdMs: number;
  look: WatchLook;
  /** In the order of their times, at least one. The list is replaced, never changed. */
  versions: readonly HeldVersion[];
  /** When any of it changed last. An entry of the log that is not later has no effect. */
  changedMs: number;
  /** Null while it exists. */
  deletedMs: number | null;
}

/** What is in force for records from `fromMs` on, until the next version. */
export class HeldVersion {
  readonly watch: HeldWatch;
  /** Counts from 1. */
  readonly number: number;
  readonly fromMs: number;
  /** The area, prepared; null of an alert. */
  readonly shape: Shape | null;
  readonly bytes: number;
  /** Changes only by erasures, which take devices and users out of its rules. */
  terms: WatchTerms;

  constructor(watch: HeldWatch, number: number, fromMs: number, terms: WatchTerms, bytes: number) {
    this.watch = watch;
    this.number = number;
    this.fromMs = fromMs;
    this.terms = terms;
    this.bytes = bytes;
    this.shape = terms.kind === "fence" ? createShape(terms.area) : null;
  }

  get boxes(): readonly Box[] {
    return this.shape?.boxes ?? [];
  }
}

export function currentVersion({ versions }: Pick<HeldWatch, "versions">): HeldVersion {
  return versions.at(-1)!;
}

/** Corners of its area, each once; a circle has one. */
export function vertexCount(terms: WatchTerms): number {
  if (terms.kind === "alert") return 0;
  const { area } = terms;
  if (area.type === "Point") return 1;
  if (area.type === "LineString") return area.line.length / 2;
  return area.polygons.flat().reduce((sum, ring) => sum + ring.length / 2 - 1, 0);
}

/** Whether these terms need no new version. */
export function areSameTerms(one: WatchTerms, other: WatchTerms): boolean {
  return textOf(one) === textOf(other);
}

function textOf(terms: WatchTerms): string {
  return JSON.stringify(terms, (_, value) => (value instanceof Float64Array ? [...value] : value));
}
