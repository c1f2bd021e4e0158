import { html, nothing, type TemplateResult } from "lit-html";
import type { Api } from "../api/api.ts";
import { sentenceOf } from "../api/api-error.ts";
import { dialog } from "../shell/dialog.ts";

/** The used part of `GET /health`. */
interface Health {
  readonly version: string;
}

interface HelpParts {
  readonly api: Pick<Api, "get">;
  readonly changed: () => void;
}

const KEYS: readonly (readonly [string, string])[] = [
  ["/", "search devices"],
  ["↑ ↓", "move through the list"],
  ["Enter", "choose a device"],
  ["N", "devices near the map's center"],
  ["G", "geofences, alerts and webhooks"],
  ["Space", "play or pause the day"],
  ["[ ]", "previous day, next day"],
  ["C", "calendar of the device"],
  ["T", "time lapse; there, ← → move it, ↑ ↓ change its speed, F fills the screen"],
  ["Ctrl+Z", "undo the last correction"],
  ["Esc", "close, or go back"],
  ["?", "this help"],
];

const CREDITS: readonly { readonly what: string; readonly of: string; readonly url: string }[] = [
  {
    what: "Countries, coasts and borders",
    of: "Natural Earth, public domain",
    url: "https://www.naturalearthdata.com/",
  },
  { what: "Names of places", of: "GeoNames, CC BY 4.0", url: "https://www.geonames.org/" },
  { what: "Map", of: "MapLibre GL JS, BSD 3-Clause", url: "https://maplibre.org/" },
  { what: "Drawing of geofences", of: "Terra Draw, MIT", url: "https://terradraw.io/" },
  { what: "Plots", of: "uPlot, MIT", url: "https://github.com/leeoniya/uPlot" },
  { what: "Panels", of: "lit-html, BSD 3-Clause", url: "https://lit.dev/" },
  { what: "QR codes", of: "uqr, MIT", url: "https://github.com/unjs/uqr" },
];

/** The help dialog: keyboard shortcuts, markers, credits and the version. */
export class Help {
  readonly #parts: HelpParts;
  #isOpen = false;
  #server = "";

  constructor(parts: HelpParts) {
    this.#parts = parts;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The server's version, or why it is unknown; empty while it loads. */
  get server(): string {
    return this.#server;
  }

  open(): void {
    this.#isOpen = true;
    this.#parts.changed();
    void this.#loadVersion();
  }

  close(): void {
    this.#isOpen = false;
    this.#parts.changed();
  }

  async #loadVersion(): Promise<void> {
    try {
      const { version } = await this.#parts.api.get<Health>("/health");
      this.#server = `Wherehouse ${version}.`;
    } catch (error) {
      this.#server = sentenceOf(error);
    }
    this.#parts.changed();
  }
}

export function helpDialog(help: Help): TemplateResult | typeof nothing {
  if (!help.isOpen) return nothing;
  const body = html`
    <h3>Keyboard shortcuts</h3>
    <dl class="keys">
      ${KEYS.map(([key, what]) => html`<div><dt>${key.split(" ").map((one) => html`<kbd>${one}</kbd> `)}</dt><dd>${what}</dd></div>`)}
    </dl>
    <h3>Markers</h3>
    <p>A device's marker points where it is heading. Its shape and color show how long ago it reported: less than 2 minutes,
      less than an hour, or longer.</p>
    <h3>Credits</h3>
    <ul class="credits">
      ${CREDITS.map(({ what, of, url }) => html`<li>${what}: <a href=${url} target="_blank" rel="noopener">${of}</a></li>`)}
    </ul>
    <p class="soft">This page loads everything from its own server.</p>
    <p class="soft">${help.server} <a href="/docs/ui" target="_blank"
      rel="noopener">API documentation</a></p>`;
  return dialog({ name: "help", title: "Help", body, closed: () => help.close() });
}
