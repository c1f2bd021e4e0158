import { metersBetween, type UnitVector } from "../../model/geo/unit-vector.ts";
import { SILENCE_MS_MAX, SPEED_MAX_METERS_PER_SECOND } from "./positions.ts";

const SPEED_MAX_METERS_PER_MS = SPEED_MAX_METERS_PER_SECOND / 1000;

/** Adds up, position by position, how far a device went and for how long it was heard. */
export class Odometer {
  /** Length of the path, without steps that can't be. */
  meters = 0;
  /** Time without silences. */
  heardMs = 0;
  #last: Reached | null = null;
  /** Where it can't have come from the last, until the next position says which of the two is wrong. */
  #doubted: Reached | null = null;
  #lastHeardMs = Number.NaN;

  add(timestampMs: number, at: UnitVector): void {
    const silentMs = timestampMs - this.#lastHeardMs;
    if (silentMs <= SILENCE_MS_MAX) this.heardMs += silentMs;
    this.#lastHeardMs = timestampMs;
    const reached = { timestampMs, at };
    if (this.#last === null || this.#goOn(this.#last, reached)) this.#last = reached;
    else if (this.#doubted !== null && this.#goOn(this.#doubted, reached)) this.#last = reached;
    else {
      this.#doubted = reached;
      return;
    }
    this.#doubted = null;
  }

  /** Adds the step, if it is one. */
  #goOn(from: Reached, to: Reached): boolean {
    const meters = metersBetween(from.at, to.at);
    if (meters > SPEED_MAX_METERS_PER_MS * (to.timestampMs - from.timestampMs)) return false;
    this.meters += meters;
    return true;
  }
}

interface Reached {
  readonly timestampMs: number;
  readonly at: UnitVector;
}
