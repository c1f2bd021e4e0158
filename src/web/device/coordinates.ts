import { html, nothing, type TemplateResult } from "lit-html";
import { icon } from "../shell/icons.ts";
import { browserTimers, type Timers } from "../time/timers.ts";

/** How long the button shows that it has copied. */
const FEEDBACK_MS = 2500;

interface CoordinatesParts {
  /** The used part of the browser. Over http, except on localhost, it has no clipboard. */
  readonly navigator: { readonly clipboard?: Pick<Clipboard, "writeText"> };
  readonly changed: () => void;
  readonly timers?: Timers;
}

/** Copies coordinates. Where the browser can't or may not, they are shown as text to select. */
export class Coordinates {
  readonly #parts: CoordinatesParts;
  #state: "ready" | "copied" | "shown" = "ready";
  #stopFeedback = () => {};

  constructor(parts: CoordinatesParts) {
    this.#parts = parts;
  }

  get state(): "ready" | "copied" | "shown" {
    return this.#state;
  }

  async copy(text: string): Promise<void> {
    const { navigator, timers = browserTimers } = this.#parts;
    this.#stopFeedback();
    try {
      if (navigator.clipboard === undefined) throw new Error("This browser has no clipboard.");
      await navigator.clipboard.writeText(text);
      this.#become("copied");
      this.#stopFeedback = timers.after(FEEDBACK_MS, () => this.#become("ready"));
    } catch {
      this.#become("shown");
    }
  }

  /** Hides them again, for another device. */
  reset(): void {
    this.#stopFeedback();
    this.#state = "ready";
  }

  #become(state: "ready" | "copied" | "shown"): void {
    this.#state = state;
    this.#parts.changed();
  }
}

/** The fifth decimal is about a meter. */
export function coordinatesText(latitude: number, longitude: number): string {
  return `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`;
}

/** The button, and the text where the button can't copy. */
export function copyCoordinates(text: string, coordinates: Coordinates): TemplateResult {
  const { state } = coordinates;
  return html`<button class="tool small" @click=${() => coordinates.copy(text)}>
      ${icon(state === "copied" ? "check" : "copy")}<span>${state === "copied" ? "Copied" : "Copy coordinates"}</span>
    </button>
    ${state === "shown" ? html`<output class="coordinates">${text}</output>` : nothing}`;
}
