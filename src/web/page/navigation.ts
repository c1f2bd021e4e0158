import { type SPANS, type Span, spanNamed } from "../time/local-day.ts";
import { browserTimers, type Timers } from "../time/timers.ts";
import { type Address, type AddressPlace, addressText, parseAddress } from "./address.ts";

/** The parts whose state is in the address. */
export interface NavigationParts {
  readonly chosen: {
    readonly id: string | null;
    /** The day that the user chose. */
    readonly requestedDay: Address["day"];
    readonly span: Span;
    /** What the user may choose from; the first one is the default. */
    readonly spans: typeof SPANS;
    choose(id: string | null): void;
    look(day: Address["day"], span: Span): void;
  };
  readonly zones: { readonly zone: string; readonly isChosen: boolean; set(zone: string | null): void };
  readonly map: {
    flyTo(place: AddressPlace, isAnimated: boolean): void;
    onCamera(listener: (camera: AddressPlace, isChosen: boolean) => void): () => void;
  };
}

/** The used part of the browser's window. */
export interface AddressBar {
  readonly location: { readonly pathname: string; readonly search: string };
  readonly history: Pick<History, "pushState" | "replaceState">;
  addEventListener(type: "popstate", listener: () => void): void;
}

/** A map that follows a device moves in every frame, and browsers reject addresses that change that often. */
const SETTLE_MS = 300;

/** Writes the page's state into its address, and restores it at the start and on the browser's back and forward. */
export class Navigation {
  readonly #parts: NavigationParts;
  readonly #bar: AddressBar;
  #place: AddressPlace | null = null;
  #stopSettling = () => {};
  /** The address as it was last read or written; null while no user is signed in, since it must not change then. */
  #address: Address | null = null;

  constructor(parts: NavigationParts, bar: AddressBar, timers: Timers = browserTimers) {
    this.#parts = parts;
    this.#bar = bar;
    parts.map.onCamera(({ latitude, longitude, zoom }, isChosen) => {
      if (!isChosen) return;
      this.#stopSettling();
      this.#stopSettling = timers.after(SETTLE_MS, () => {
        this.#place = { latitude, longitude, zoom };
        this.write();
      });
    });
    bar.addEventListener("popstate", () => {
      if (this.#address !== null) this.begin();
    });
  }

  /** Restores the state in the address. */
  begin(): void {
    const { chosen, zones, map } = this.#parts;
    const address = parseAddress(this.#bar.location.search);
    this.#address = address; // Set before anything moves, or the change would count as a step of the user.
    this.#place = address.place;
    zones.set(address.zone);
    chosen.look(address.day, spanNamed(address.span, chosen.spans));
    chosen.choose(address.device);
    if (address.place !== null) map.flyTo(address.place, false);
  }

  /** Leaves the address as it is for the next user who signs in. */
  end(): void {
    this.#address = null;
  }

  /** Writes the state into the address. Another device, day or span becomes an entry of the browser's history. */
  write(): void {
    const before = this.#address;
    if (before === null) return;
    const now = this.#now();
    const text = addressText(now);
    if (text === addressText(before)) return;
    this.#address = now;
    const isStep = now.device !== before.device || now.day !== before.day || now.span !== before.span;
    const { location, history } = this.#bar;
    if (isStep) history.pushState(null, "", location.pathname + text);
    else history.replaceState(null, "", location.pathname + text);
  }

  #now(): Address {
    const { chosen, zones } = this.#parts;
    return {
      device: chosen.id,
      day: chosen.requestedDay,
      span: chosen.span.name === chosen.spans[0].name ? null : chosen.span.name,
      zone: zones.isChosen ? zones.zone : null,
      place: this.#place,
    };
  }
}
