import { browserTimers, type Timers } from "../time/timers.ts";
import type { LiveDevices } from "./live.ts";

/** Another page of this browser may need the connection more than one that was hidden for so long. */
const HIDDEN_MS_MAX = 60_000;

export interface SeenOptions {
  /** Says whether the page is seen. */
  readonly page?: EventTarget & { readonly hidden: boolean };
  readonly timers?: Timers;
}

/** Closes the stream while nobody has seen the page for a minute, and goes on once somebody does. */
export function liveWhileSeen(
  live: Pick<LiveDevices, "sleep" | "wake">,
  { page = document, timers = browserTimers }: SeenOptions = {},
): void {
  let stopHiding = () => {};
  const look = () => {
    stopHiding();
    if (page.hidden) stopHiding = timers.after(HIDDEN_MS_MAX, () => live.sleep());
    else live.wake();
  };
  look(); // It may be opened behind others.
  page.addEventListener("visibilitychange", look);
}
