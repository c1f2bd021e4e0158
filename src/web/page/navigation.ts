import { spanNamed } from "../time/local-day.ts";
import { browserTimers, type Timers } from "../time/timers.ts";
import { type Address, type AddressPlace, addressText, parseAddress } from "./address.ts";

/** What the address tells of, and is set by. */
export interface NavigationParts {
  readonly chosen: {
    readonly id: string | null;
    /** The day that the user asked for. */
    readonly askedDay: Address["day"];
    readonly span: { readonly name: Address["span"] };
    choose(id: string | null): void;
    look(day: Address["day"], span: ReturnType<typeof spanNamed>): void;
  };
  readonly zones: { readonly zone: string; readonly isChosen: boolean; set(zone: string | null): void };
  readonly map: {
    flyTo(place: AddressPlace, isAnimated: boolean): void;
    onCamera(listener: (camera: AddressPlace, isChosen: boolean) => void): () => void;
  };
}

/** As much of the browser's window as is needed. */
export interface AddressBar {
  readonly location: { readonly pathname: string; readonly search: string };
  readonly history: Pick<History, "pushState" | "replaceState">;
  addEventListener(type: "popstate", listener: () => void): void;
}

/** A map that follows a device moves in every frame, and browsers refuse addresses that change so often. */
const SETTLE_MS = 300;

/** Keeps the address of the page true, and goes where it says: at the start, and by the browser's back and forward. */
export class Navigation {
  readonly #parts: NavigationParts;
  readonly #bar: AddressBar;
  #place: AddressPlace | null = null;
  #stopSettling = () => {};
  /** Null while nobody is signed in: then the address waits. */
  #noted: Address | null = null;

  constructor(parts: NavigationParts, bar: AddressBar, timers: Timers = browserTimers) {
    this.#parts = parts;
    this.#bar = bar;
    parts.map.onCamera(({ latitude, longitude, zoom }, isChosen) => {
      if (!isChosen) return;
      this.#stopSettling();
      this.#stopSettling = timers.after(SETTLE_MS, () => {
        this.#place = { latitude, longitude, zoom };
        this.note();
      });
    });
    bar.addEventListener("popstate", () => {
      if (this.#noted !== null) this.begin();
    });
  }

  /** Goes where the address says. */
  begin(): void {
    const { chosen, zones, map } = this.#parts;
    const address = parseAddress(this.#bar.location.search);
    this.#noted = address; // Before anything moves, or it would be noted as a step.
    this.#place = address.place;
    zones.set(address.zone);
    chosen.look(address.day, spanNamed(address.span));
    chosen.choose(address.device);
    if (address.place !== null) map.flyTo(address.place, false);
  }

  /** Leaves the address as it is, for whoever signs in next. */
  end(): void {
    this.#noted = null;
  }

  /** Writes what is looked at now. Another device, or another day, is a step that one can go back. */
  note(): void {
    const before = this.#noted;
    if (before === null) return;
    const now = this.#now();
    const text = addressText(now);
    if (text === addressText(before)) return;
    this.#noted = now;
    const isStep = now.device !== before.device || now.day !== before.day || now.span !== before.span;
    const { location, history } = this.#bar;
    if (isStep) history.pushState(null, "", location.pathname + text);
    else history.replaceState(null, "", location.pathname + text);
  }

  #now(): Address {
    const { chosen, zones } = this.#parts;
    return {
      device: chosen.id,
      day: chosen.askedDay,
      span: chosen.span.name,
      zone: zones.isChosen ? zones.zone : null,
      place: this.#place,
    };
  }
}
