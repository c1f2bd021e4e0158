import type { Api } from "../api/api.ts";
import { isGivenUp } from "../api/api.ts";
import { ApiError, retryingSentenceOf } from "../api/api-error.ts";
import { type SearchedDevices, suggestedIds } from "../devices/name-search.ts";
import type { Bounds } from "../geo/bounds.ts";
import type { Position } from "../geo/earth.ts";
import type { Copying } from "../keys/copying.ts";
import { DAY, dayAt, type LocalDay, type Span } from "../time/local-day.ts";
import type { QueuedFile } from "./chosen-files.ts";
import { baseName } from "./file-plan.ts";
import { boundsOfLines, type ImportAnswer, tooOldCount } from "./import-answer.ts";
import { CANCELLED, faultOf, type Step } from "./import-step.ts";
import { type OpenFile, openFile, type PackedFile, sendFile } from "./send-file.ts";

/** The used part of the page. */
export interface ImportingParts {
  readonly api: Pick<Api, "fetch" | "retries">;
  readonly table: SearchedDevices & {
    rowOf(id: string): number | undefined;
    labelOf(id: string): string;
  };
  readonly chosen: {
    readonly id: string | null;
    choose(id: string): void;
    look(day: LocalDay, span: Span): void;
  };
  readonly zones: { readonly zone: string };
  readonly map: {
    setPreview(lines: readonly (readonly Position[])[]): void;
    fit(bounds: Bounds): void;
  };
  readonly copying: Copying;
  readonly origin: string;
  /** Called when positions have come in. */
  readonly onImported: () => void;
  readonly changed: () => void;
  readonly send?: typeof sendFile;
}

/** The server reads one file of an app at a time, and asks to send others shortly. */
const BUSY_SECONDS_MAX = 10;
const ATTEMPTS_MAX = 5;

/** Imports files, one after another, each after a preview. */
export class Importing {
  readonly #parts: ImportingParts;
  #files: readonly QueuedFile[] = [];
  #index = 0;
  isOpen = false;
  step: Step = { kind: "choose" };
  /** What the page waits for before it sends the file again; null if it does not wait. */
  waiting: string | null = null;
  /** The device of all positions; null for the devices that the file names. */
  deviceId: string | null = null;
  /** What the user has typed to find a device. */
  search = "";
  /** The zone of times without a zone; null if the server should refuse them. */
  zone: string | null = null;
  /** Whether positions before the retention are left out. */
  isSkippingOld = false;
  /** Whether the user has chosen the device, which then is that of the next files too. */
  #isDeviceChosen = false;
  #openFile: OpenFile | null = null;
  #request = new AbortController();

  constructor(parts: ImportingParts) {
    this.#parts = parts;
  }

  get file(): QueuedFile | null {
    return this.#files[this.#index] ?? null;
  }

  /** Which of the files is open; null for a single file. */
  get place(): { readonly number: number; readonly count: number } | null {
    return this.#files.length > 1 ? { number: this.#index + 1, count: this.#files.length } : null;
  }

  get hasNext(): boolean {
    return this.#index + 1 < this.#files.length;
  }

  get copying(): Copying {
    return this.#parts.copying;
  }

  get origin(): string {
    return this.#parts.origin;
  }

  /** The zone of the page. */
  get pageZone(): string {
    return this.#parts.zones.zone;
  }

  isKnown(deviceId: string): boolean {
    return this.#parts.table.rowOf(deviceId) !== undefined;
  }

  /** Opens the dialog; without files it asks for some. Further files come after those that wait. */
  open(files: readonly QueuedFile[] = []): void {
    if (!this.isOpen) this.#begin();
    const wasEmpty = this.file === null;
    this.#files = [...this.#files, ...files];
    if (wasEmpty && this.file !== null) this.#beginFile(this.file);
    this.#parts.changed();
  }

  close(): void {
    this.#leaveFile();
    this.isOpen = false;
    this.#files = [];
    this.#parts.map.setPreview([]);
    this.#parts.changed();
  }

  type(search: string): void {
    this.search = search;
    this.#parts.changed();
  }

  /** What the page calls a device. */
  labelOf(deviceId: string): string {
    return this.#parts.table.labelOf(deviceId);
  }

  /** Devices to choose from. */
  suggestions(): readonly string[] {
    return suggestedIds(this.#parts.table, this.search);
  }

  /** Chooses the device, or those of the file by null, and looks at the file again. */
  setDevice(deviceId: string | null): void {
    this.search = deviceId ?? "";
    if (deviceId === this.deviceId && this.#isDeviceChosen) {
      this.#parts.changed();
      return;
    }
    this.deviceId = deviceId;
    this.#isDeviceChosen = true;
    void this.look();
  }

  /** Reads times without a zone as those of the page's zone. */
  useZone(): void {
    this.zone = this.pageZone;
    void this.look();
  }

  skipOld(isSkippingOld: boolean): void {
    this.isSkippingOld = isSkippingOld;
    this.#parts.changed();
  }

  /** Whether the import can begin: there are positions, and none that would refuse the file. */
  get isReady(): boolean {
    const { step } = this;
    if (step.kind !== "preview" || step.answer === null || step.fault?.needsZone) return false;
    return step.answer.usable > 0 && (this.isSkippingOld || tooOldCount(step.answer) === 0);
  }

  /** Asks the server what is in the file, once it is packed. */
  async look(): Promise<void> {
    const openFile = this.#openFile;
    if (openFile === null) return;
    const { signal } = this.#restart();
    const { step } = this;
    const before = step.kind === "preview" || step.kind === "looking" ? step.answer : null;
    this.step = { kind: "looking", answer: before, sentShare: 0 };
    this.#parts.changed();
    try {
      const preparation = await openFile.preparation;
      signal.throwIfAborted();
      if (preparation.kind === "command") {
        this.step = preparation;
        return this.#parts.changed();
      }
      const answer = await this.#send(preparation.packed, { dry_run: true }, signal, (sentShare) => {
        this.step = { kind: "looking", answer: before, sentShare };
      });
      signal.throwIfAborted();
      if (this.#mustName(answer)) return this.#useBaseName(openFile.file);
      this.step = { kind: "preview", answer, fault: null };
      this.#show(answer);
    } catch (error) {
      if (signal.aborted) return;
      this.step = { kind: "preview", answer: before, fault: faultOf(error) };
    }
    this.#parts.changed();
  }

  /** Imports the file of the preview. */
  async begin(): Promise<void> {
    const { step } = this;
    const openFile = this.#openFile;
    if (openFile === null || step.kind !== "preview" || step.answer === null || !this.isReady) return;
    const { answer: preview } = step;
    const { signal } = this.#restart();
    this.step = { kind: "importing", answer: preview, sentShare: 0 };
    this.#parts.changed();
    const query = { skip_old: this.isSkippingOld };
    try {
      const preparation = await openFile.preparation;
      signal.throwIfAborted();
      if (preparation.kind === "command") throw new Error("A file for the import command has a preview");
      const answer = await this.#send(preparation.packed, query, signal, (sentShare) => {
        this.step = { kind: "importing", answer: preview, sentShare };
      });
      if (this.#openFile === openFile) this.step = { kind: "done", answer };
    } catch (error) {
      if (this.#openFile !== openFile) return this.#parts.onImported();
      const fault = isGivenUp(error) ? CANCELLED : faultOf(error);
      this.step = { kind: "preview", answer: preview, fault };
    }
    this.#parts.onImported(); // Part of the file may be stored even if the answer is missing.
    this.#parts.changed();
  }

  /** Stops a running import. */
  cancel(): void {
    this.#request.abort();
  }

  /** Goes on with the next file; with no file left the dialog asks for others. */
  next(): void {
    this.#leaveFile();
    this.#index++;
    if (this.file !== null) this.#beginFile(this.file);
    else {
      this.#begin();
      this.#parts.changed();
    }
  }

  /** Closes the dialog and shows the last day of the imported positions. */
  showDay(): void {
    if (this.step.kind !== "done") return;
    const { devices, last } = this.step.answer;
    this.close();
    const [id] = devices;
    if (id === undefined || last === undefined) return;
    this.#parts.chosen.choose(id);
    this.#parts.chosen.look(dayAt(last, this.pageZone), DAY);
  }

  #begin(): void {
    this.isOpen = true;
    this.#files = [];
    this.#index = 0;
    this.step = { kind: "choose" };
    this.deviceId = this.#parts.chosen.id;
    this.#isDeviceChosen = this.deviceId !== null;
    this.zone = null;
    this.isSkippingOld = false;
    this.waiting = null;
    this.#parts.map.setPreview([]);
  }

  #beginFile(file: QueuedFile): void {
    this.#openFile = openFile(file);
    if (!this.#isDeviceChosen) this.deviceId = null;
    this.search = this.deviceId ?? "";
    this.isSkippingOld = false;
    this.#parts.map.setPreview([]);
    this.step = { kind: "looking", answer: null, sentShare: 0 };
    void this.look();
  }

  /** Stops all that goes on for the open file. */
  #leaveFile(): void {
    this.#openFile?.controller.abort();
    this.#openFile = null;
    this.#request.abort();
  }

  /** Sends the file, again if the server is busy with another one. */
  async #send(
    packed: PackedFile,
    query: { readonly dry_run?: boolean; readonly skip_old?: boolean },
    signal: AbortSignal,
    onProgress: (share: number) => void,
  ): Promise<ImportAnswer> {
    const { api, changed, send = sendFile } = this.#parts;
    const parameters = { device_id: this.deviceId, timezone: this.zone, ...query };
    for (let attempts = 1; ; attempts++) {
      try {
        return await send<ImportAnswer>(api, packed, parameters, {
          signal,
          onProgress: (share) => {
            if (signal.aborted) return;
            onProgress(share);
            changed();
          },
        });
      } catch (error) {
        if (signal.aborted || !isBusy(error) || attempts === ATTEMPTS_MAX) throw error;
        this.waiting = retryingSentenceOf(error);
        await api.retries.pause(attempts, error.retryAfterSeconds, signal, changed);
        this.waiting = null;
        signal.throwIfAborted();
      }
    }
  }

  /** Whether the file names no device, so that all of its positions would be left out. */
  #mustName({ usable, skips }: ImportAnswer): boolean {
    return (
      this.deviceId === null &&
      !this.#isDeviceChosen &&
      usable === 0 &&
      skips.some(({ reason }) => reason === "bad_device")
    );
  }

  /** Chooses the device that the import command would. */
  #useBaseName({ name }: QueuedFile): Promise<void> {
    this.deviceId = baseName(name);
    this.search = this.deviceId;
    return this.look();
  }

  #show(answer: ImportAnswer): void {
    const { map } = this.#parts;
    map.setPreview(answer.lines ?? []);
    const bounds = boundsOfLines(answer);
    if (bounds !== null) map.fit(bounds);
  }

  #restart(): AbortController {
    this.#request.abort();
    this.#request = new AbortController();
    this.waiting = null;
    return this.#request;
  }
}

function isBusy(error: unknown): error is ApiError {
  if (!(error instanceof ApiError) || error.status !== 503 || error.retryAfterSeconds === null) return false;
  return error.retryAfterSeconds <= BUSY_SECONDS_MAX;
}
