import { html, type TemplateResult } from "lit-html";
import type { Api } from "../api/api.ts";
import { pathWith } from "../api/api.ts";
import { sentenceOf } from "../api/api-error.ts";
import { addDays, type LocalDay } from "../time/local-day.ts";

export const DOWNLOAD_FORMATS = [
  { format: "gpx", name: "GPX", extension: "gpx" },
  { format: "csv", name: "CSV", extension: "csv" },
  { format: "geojson", name: "GeoJSON", extension: "geojson" },
] as const;

type Format = (typeof DOWNLOAD_FORMATS)[number];

/** A browser begins to save a file long before this. */
const URL_LIFETIME_MS = 60_000;

/** One day of a device, or several that end with it. */
export interface DownloadedDays {
  readonly deviceId: string;
  readonly day: LocalDay;
  readonly days: number;
  readonly zone: string;
}

/** Downloads a device's days for other programs. A plain link can't, since it does not send the session's header. */
export class Downloads {
  readonly #api: Pick<Api, "fetch">;
  readonly #changed: () => void;
  readonly #saveFile: typeof saveFile;
  #underWay: Format | null = null;
  #failed: { readonly downloaded: DownloadedDays; readonly fault: string } | null = null;

  constructor(api: Pick<Api, "fetch">, changed: () => void, save = saveFile) {
    this.#api = api;
    this.#changed = changed;
    this.#saveFile = save;
  }

  get underWay(): Format | null {
    return this.#underWay;
  }

  /** Why the last download of these days failed; null if it did not. */
  faultOf({ deviceId, day, days }: DownloadedDays): string | null {
    if (this.#failed === null) return null;
    const { downloaded, fault } = this.#failed;
    const isSame = downloaded.deviceId === deviceId && downloaded.day === day && downloaded.days === days;
    return isSame ? fault : null;
  }

  async save(format: Format, downloaded: DownloadedDays): Promise<void> {
    if (this.#underWay !== null) return;
    this.#underWay = format;
    this.#failed = null;
    this.#changed();
    const { deviceId, day, days, zone } = downloaded;
    const first = addDays(day, 1 - days);
    const range = { start_date: first, end_date: day, timezone: zone };
    const name = [safeName(deviceId), ...(days === 1 ? [] : [first, "to"]), day].join("-");
    try {
      const path = pathWith("/api/v1/export", { format: format.format, device_id: deviceId, ...range });
      const response = await this.#api.fetch(path);
      this.#saveFile(await response.blob(), `${name}.${format.extension}`);
    } catch (error) {
      this.#failed = { downloaded, fault: sentenceOf(error) };
    }
    this.#underWay = null;
    this.#changed();
  }
}

export function downloadButtons(downloads: Downloads, downloaded: DownloadedDays): TemplateResult {
  const { underWay } = downloads;
  const fault = downloads.faultOf(downloaded);
  const save = (format: Format) => void downloads.save(format, downloaded);
  return html`<div class="downloads" role="group" aria-label=${downloaded.days === 1 ? "Download the day" : "Download the days"}>
    ${DOWNLOAD_FORMATS.map(
      (format) => html`<button ?disabled=${underWay !== null} @click=${() => save(format)}>
        ${format === underWay ? "Saving…" : format.name}
      </button>`,
    )}
  </div>
  ${fault === null ? "" : html`<p class="fault" role="alert">${fault}</p>`}`;
}

/** A name that every file system accepts. */
export function safeName(text: string): string {
  return text.replace(/[^\p{L}\p{N}._-]+/gu, "_").replace(/^\.+/, "");
}

/** Lets the browser save a file. */
export function saveFile(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), URL_LIFETIME_MS);
}
