import { html, type TemplateResult } from "lit-html";
import type { Api } from "../api/api.ts";
import { pathWith } from "../api/api.ts";
import { sentenceOf } from "../api/api-error.ts";
import type { LocalDay } from "../time/local-day.ts";

export const DOWNLOAD_FORMATS = [
  { format: "gpx", name: "GPX", extension: "gpx" },
  { format: "csv", name: "CSV", extension: "csv" },
  { format: "geojson", name: "GeoJSON", extension: "geojson" },
] as const;

type Format = (typeof DOWNLOAD_FORMATS)[number];

/** A browser begins to save a file long before this. */
const URL_LIFETIME_MS = 60_000;

/** Downloads a device's day for other programs. A plain link can't, since it does not send the session's header. */
export class Downloads {
  readonly #api: Pick<Api, "fetch">;
  readonly #changed: () => void;
  readonly #saveFile: typeof saveFile;
  #underWay: Format | null = null;
  #failed: { readonly deviceId: string; readonly day: LocalDay; readonly fault: string } | null = null;

  constructor(api: Pick<Api, "fetch">, changed: () => void, save = saveFile) {
    this.#api = api;
    this.#changed = changed;
    this.#saveFile = save;
  }

  get underWay(): Format | null {
    return this.#underWay;
  }

  /** Why the last download of this device and day failed; null if it did not. */
  faultOf(deviceId: string, day: LocalDay): string | null {
    const failed = this.#failed;
    return failed?.deviceId === deviceId && failed.day === day ? failed.fault : null;
  }

  async save(format: Format, deviceId: string, day: LocalDay, zone: string): Promise<void> {
    if (this.#underWay !== null) return;
    this.#underWay = format;
    this.#failed = null;
    this.#changed();
    const days = { start_date: day, end_date: day, timezone: zone };
    try {
      const path = pathWith("/api/v1/export", { format: format.format, device_id: deviceId, ...days });
      const response = await this.#api.fetch(path);
      this.#saveFile(await response.blob(), `${safeName(deviceId)}-${day}.${format.extension}`);
    } catch (error) {
      this.#failed = { deviceId, day, fault: sentenceOf(error) };
    }
    this.#underWay = null;
    this.#changed();
  }
}

interface DownloadedDay {
  readonly deviceId: string;
  readonly day: LocalDay;
  readonly zone: string;
}

export function downloadButtons(
  downloads: Downloads,
  { deviceId, day, zone }: DownloadedDay,
): TemplateResult {
  const { underWay } = downloads;
  const fault = downloads.faultOf(deviceId, day);
  const save = (format: Format) => void downloads.save(format, deviceId, day, zone);
  return html`<div class="downloads" role="group" aria-label="Download the day">
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
