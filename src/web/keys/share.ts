import { sentenceOf } from "../api/api-error.ts";
import { type SearchedDevices, suggestedIds } from "../devices/name-search.ts";
import { MS_PER_HOUR } from "../time/local-day.ts";
import { localTextOf } from "../time/local-time.ts";
import type { Copying } from "./copying.ts";
import type { PageKey, PageKeys } from "./page-keys.ts";
import { FROM, PRECISIONS, type ShareTerms, shareRange, showsLast } from "./share-terms.ts";

/* The state of the dialog for share links. */

interface ShareParts {
  readonly keys: PageKeys;
  readonly copying: Copying;
  readonly devices: SearchedDevices & {
    readonly timestampMs: ArrayLike<number>;
    rowOf(id: string): number | undefined;
    labelOf(id: string): string;
  };
  readonly chosen: { readonly id: string | null };
  readonly zones: { readonly zone: string };
  readonly origin: string;
  /** The browser's dialog that hands a link to another app. Null without TLS, and in many desktop browsers. */
  readonly send: ((data: { readonly title: string; readonly url: string }) => Promise<void>) | null;
  readonly changed: () => void;
}

interface ShareStart {
  /** Unix ms. */
  readonly fromMs: number;
  /** Chosen devices whose last position is too old to begin with. */
  readonly silentIds: readonly string[];
}

/** A sentence names at most this many devices. */
const NAMES_MAX = 3;

/** Creates share links. */
export class Share {
  readonly #parts: ShareParts;
  isOpen = false;
  ids: readonly string[] = [];
  search = "";
  terms: ShareTerms = { until: 1, ownUntil: "", from: 0, ownFrom: "", precision: 0 };
  label = "";
  isMaking = false;
  fault: string | null = null;
  /** The newest link. It is shown once, since the server stores only a hash. */
  made: { readonly url: string; readonly key: PageKey } | null = null;
  sendFault: string | null = null;
  /** Counts how often the dialog was closed, so that the answer to an earlier request is dropped. */
  #round = 0;

  constructor(parts: ShareParts) {
    this.#parts = parts;
  }

  get keys(): PageKeys {
    return this.#parts.keys;
  }

  get copying(): Copying {
    return this.#parts.copying;
  }

  get zone(): string {
    return this.#parts.zones.zone;
  }

  open(): void {
    const { chosen, keys } = this.#parts;
    const now = Date.now();
    this.isOpen = true;
    this.ids = chosen.id === null ? [] : [chosen.id];
    this.search = "";
    this.label = "";
    this.terms = {
      ...this.terms,
      ownUntil: localTextOf(now + 24 * MS_PER_HOUR, this.zone),
      ownFrom: localTextOf(now - 24 * MS_PER_HOUR, this.zone),
    };
    this.fault = null;
    this.#parts.changed();
    void keys.load();
  }

  close(): void {
    this.#round++;
    this.isOpen = false;
    this.isMaking = false;
    this.made = null;
    this.#parts.changed();
  }

  set(terms: Partial<ShareTerms>): void {
    this.terms = { ...this.terms, ...terms };
    this.#parts.changed();
  }

  type(search: string): void {
    this.search = search;
    this.#parts.changed();
  }

  /** Where the path of a link begins; null while that is unknown. */
  start(): ShareStart | null {
    const last = this.#last();
    const { kind } = FROM[this.terms.from]!;
    const isFromLast = kind === "last" || kind === "recent";
    if (this.ids.length === 0 || (isFromLast && last.size === 0)) return null;
    const nowMs = Date.now();
    const range = shareRange(this.terms, this.zone, nowMs, [...last.values()]);
    if (typeof range === "string") return null;
    const silent = [...last].filter(([, ms]) => isFromLast && !showsLast(ms, last.size, nowMs));
    return { fromMs: range.notBeforeMs, silentIds: silent.map(([id]) => id) };
  }

  /** The host that a link leads to. */
  get hostname(): string {
    return new URL(this.#parts.origin).hostname;
  }

  get maySend(): boolean {
    return this.#parts.send !== null;
  }

  /** Hands the new link to an app that the user chooses. */
  async sendMade(): Promise<void> {
    const { send, changed } = this.#parts;
    if (send === null || this.made === null) return;
    const { url, key } = this.made;
    this.sendFault = null;
    try {
      await send({ title: `Live position of ${this.namesText(key.view?.device_ids ?? [])}`, url });
    } catch (error) {
      const isCancelled = error instanceof DOMException && error.name === "AbortError";
      if (!isCancelled) this.sendFault = "The link could not be sent: copy it instead.";
    }
    changed();
  }

  /** When each chosen device reported last. Devices without a report are not in it. */
  #last(): ReadonlyMap<string, number> {
    const { devices } = this.#parts;
    return new Map(
      this.ids.flatMap((id): [string, number][] => {
        const row = devices.rowOf(id);
        return row === undefined ? [] : [[id, devices.timestampMs[row]!]];
      }),
    );
  }

  /** What the page calls a device. */
  labelOf(id: string): string {
    return this.#parts.devices.labelOf(id);
  }

  /** `bus-1, bus-2, bus-3 and 7 more`. */
  namesText(ids: readonly string[]): string {
    const names = ids.slice(0, NAMES_MAX).map((id) => this.labelOf(id));
    const rest = ids.length - names.length;
    return rest > 0 ? `${names.join(", ")} and ${rest} more` : names.join(", ");
  }

  /** Devices whose names or ids contain the search text. Those that begin with it come first. */
  suggestions(): readonly string[] {
    return suggestedIds(this.#parts.devices, this.search, this.ids);
  }

  add(id: string): void {
    if (!this.ids.includes(id)) this.ids = [...this.ids, id];
    this.type("");
  }

  remove(id: string): void {
    this.ids = this.ids.filter((other) => other !== id);
    this.#parts.changed();
  }

  async make(): Promise<void> {
    const { keys, origin, changed } = this.#parts;
    const range = shareRange(this.terms, this.zone, Date.now(), [...this.#last().values()]);
    this.fault = this.ids.length === 0 ? "Choose a device first." : typeof range === "string" ? range : null;
    if (this.fault !== null || typeof range === "string") return changed();
    const round = this.#round;
    this.isMaking = true;
    changed();
    try {
      const { key, text } = await keys.make<{ readonly key: PageKey; readonly text: string }>({
        kind: "share",
        device_ids: this.ids,
        not_before: range.notBeforeMs,
        expires: range.expiresMs,
        precision_meters: PRECISIONS[this.terms.precision]!.meters,
        label: this.label.trim(),
      });
      if (round !== this.#round) return; // The link is in the list, where it can be revoked.
      this.sendFault = null;
      this.made = { url: `${origin}/map/s#${text}`, key };
    } catch (error) {
      if (round !== this.#round) return;
      this.fault = sentenceOf(error);
    }
    this.isMaking = false;
    changed();
  }
}
