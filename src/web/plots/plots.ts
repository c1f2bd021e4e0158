import type { PlottedField, SeriesAnswer } from "../api/answers.ts";
import type { Api } from "../api/api.ts";
import { retryingSentenceOf, sentenceOf } from "../api/api-error.ts";
import { LateModule } from "../api/late-module.ts";
import { heightFactor, heightUnit, speedFactor, speedUnit, type Units } from "../geo/units.ts";
import { areOfSame, bucketsOf, type History, isColored, readSeries } from "../history/history.ts";
import { isKnown, type PlotSeries, plotSeries, speedSeries } from "./plot-series.ts";

/** A field that can be plotted, with its name and unit on the page. */
export interface PlotKind {
  readonly field: PlottedField;
  readonly name: string;
  readonly unit: string;
  readonly factor: number;
}

export interface Plot {
  readonly kind: PlotKind;
  readonly series: PlotSeries;
  /** Whether the values are computed from positions, because the device did not report them. */
  readonly isFromPositions: boolean;
}

type PlotsApi = Pick<Api, "get" | "fetch" | "retries">;

/** The plots of the chosen history, and which of them is shown. The drawing code is loaded on first use. */
export class Plots {
  readonly #api: PlotsApi;
  readonly #timePlot: LateModule<typeof import("./time-plot.ts")>;
  readonly #changed: () => void;
  readonly #settings: { readonly units: Units };
  #chosenField: PlottedField = "speed";
  #drawing: Promise<void> | null = null;
  #history: History | null = null;
  #request = new AbortController();
  #isLoading = false;
  #fault: string | null = null;
  #all: readonly Plot[] = [];
  /** The values that the plots are of. */
  #plotted: { readonly history: History; readonly series: SeriesAnswer } | null = null;

  constructor(api: PlotsApi, settings: { readonly units: Units }, changed: () => void) {
    this.#api = api;
    this.#timePlot = new LateModule(api, "plots/time-plot.ts", () => import("./time-plot.ts"));
    this.#changed = changed;
    this.#settings = settings;
  }

  /** The plots that have values. While others load, these are the previous ones. */
  get all(): readonly Plot[] {
    return this.#all;
  }

  get isLoading(): boolean {
    return this.#isLoading;
  }

  /** Why there are no plots. */
  get fault(): string | null {
    return this.#fault;
  }

  get shown(): Plot | null {
    return this.#all.find(({ kind }) => kind.field === this.#chosenField) ?? this.#all[0] ?? null;
  }

  /** The speeds that color the line; null if they are unknown, or while those of other days are still here. */
  get lineSpeed(): Plot | null {
    const history = this.#history;
    if (history === null || !isColored(history.span)) return null;
    if (!areOfSame(history, this.#plotted?.history ?? null)) return null;
    return this.#all.find(({ kind }) => kind.field === "speed") ?? null;
  }

  use(history: History | null): void {
    if (history === this.#history) return;
    if (history?.deviceId !== this.#history?.deviceId) this.#all = [];
    this.#history = history;
    this.#fault = null;
    this.#request.abort();
    this.#request = new AbortController();
    this.#isLoading = history !== null && !history.isView && history.track.count > 0;
    if (this.#isLoading) void this.#load(history!, this.#request.signal);
    else this.#all = [];
  }

  /** Loads the plots again after a failure, at once. */
  retry(): void {
    if (this.#isLoading) this.#api.retries.wake();
    else {
      const history = this.#history;
      this.#history = null;
      this.use(history);
    }
    this.#changed();
  }

  /** Draws the same values in the units of the settings. */
  rescale(): void {
    if (this.#plotted === null || this.#all.length === 0) return;
    const { history, series } = this.#plotted;
    this.#all = plotsOf(history, series, this.#settings.units);
    this.#changed();
  }

  choose(field: PlottedField): void {
    this.#chosenField = field;
    this.#changed();
  }

  async #load(history: History, signal: AbortSignal): Promise<void> {
    const { deviceId, track, span } = history;
    try {
      const read = () =>
        Promise.all([
          readSeries(this.#api, deviceId, track.range!, bucketsOf(span), signal),
          this.#loadDrawing(),
        ]);
      const [series] = await this.#api.retries.ask(read, {
        signal,
        onPause: (error) => {
          this.#fault = retryingSentenceOf(error);
          this.#changed();
        },
      });
      if (signal.aborted) return;
      this.#fault = null;
      this.#all = plotsOf(history, series, this.#settings.units);
      this.#plotted = { history, series };
    } catch (error) {
      if (signal.aborted) return;
      this.#all = [];
      this.#fault = sentenceOf(error);
    }
    this.#isLoading = false;
    this.#changed();
  }

  #loadDrawing(): Promise<void> {
    this.#drawing ??= this.#timePlot
      .load()
      .then(({ defineTimePlot }) => defineTimePlot())
      .catch((error: unknown) => {
        this.#drawing = null; // The next call tries again.
        throw error;
      });
    return this.#drawing;
  }
}

function plotsOf(history: History, series: SeriesAnswer, units: Units): readonly Plot[] {
  const kinds: readonly PlotKind[] = [
    { field: "speed", name: "Speed", unit: speedUnit(units), factor: speedFactor(units) },
    { field: "altitude", name: "Altitude", unit: heightUnit(units), factor: heightFactor(units) },
    { field: "battery_level", name: "Battery", unit: "%", factor: 1 },
  ];
  return kinds.flatMap((kind) => plotOf(history, series, kind) ?? []);
}

function plotOf({ track, span }: History, series: SeriesAnswer, kind: PlotKind): Plot | null {
  const { field, factor } = kind;
  if (isKnown(series, field))
    return { kind, series: plotSeries(series, field, factor, bucketsOf(span)), isFromPositions: false };
  // A simplified line is shorter than the route, so its speeds would be wrong.
  const isWhole = span.days === 1 && track.toleranceMeters === 0 && track.count > 1;
  if (field !== "speed" || !isWhole) return null;
  return { kind, series: speedSeries(track, factor), isFromPositions: true };
}
