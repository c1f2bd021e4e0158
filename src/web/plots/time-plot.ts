import uPlot from "uplot";
import { clockText, dayText, localeOfTimes, minuteText } from "../time/format.ts";
import { dayAt, type TimeRange } from "../time/local-day.ts";
import { PlotElement } from "./plot-element.ts";
import type { PlotSeries } from "./plot-series.ts";
import { loadPlotSheet } from "./plot-sheet.ts";

/** The input of an element. The element compares it by its fields. */
export interface Plotted {
  readonly series: PlotSeries;
  readonly unit: string;
  /** Whether a value holds until the next one. */
  readonly isStepped: boolean;
  /** Whether the user selects a range by dragging across the plot. */
  readonly isSelectable: boolean;
  readonly zone: string;
  /** A change redraws the plot with the page's current colors. */
  readonly theme: string;
}

const MS_PER_SECOND = 1000;
const MINUTE_SECONDS = 60;
const DAY_SECONDS = 86_400;
const Y_AXIS_PIXELS = 64;
const X_AXIS_PIXELS = 26;
const X_LABEL_PIXELS_MIN = 110;
/** A shorter drag is a click. */
const DRAG_PIXELS_MIN = 5;
/** A single position is selected visibly, too. */
const SELECTED_PIXELS_MIN = 3;

/** A plot of numbers over time, with lines at the playback's clock and at the moment that is pointed at on the map. */
class TimePlot extends PlotElement {
  readonly #clockLine = document.createElement("div");
  readonly #pointedLine = document.createElement("div");
  #plotted: Plotted | null = null;
  #locale = localeOfTimes();
  #clockMs: number | null = null;
  #pointedMs: number | null = null;
  #selected: TimeRange | null = null;
  #isDragging = false;
  onSeek: (ms: number) => void = () => undefined;
  /** Called with null when the pointer leaves. */
  onPoint: (ms: number | null) => void = () => undefined;
  /** Called with the range that the user has dragged across. */
  onSelect: (range: TimeRange) => void = () => undefined;

  set plotted(plotted: Plotted) {
    const now = this.#plotted;
    const isSame =
      now?.series === plotted.series &&
      now.unit === plotted.unit &&
      now.isSelectable === plotted.isSelectable &&
      now.zone === plotted.zone &&
      now.theme === plotted.theme &&
      this.#locale === localeOfTimes();
    if (isSame) return;
    this.#plotted = plotted;
    this.#locale = localeOfTimes();
    this.redraw();
  }

  set clockMs(ms: number | null) {
    if (ms === this.#clockMs) return;
    this.#clockMs = ms;
    this.#placeLines();
  }

  set pointedMs(ms: number | null) {
    if (ms === this.#pointedMs) return;
    this.#pointedMs = ms;
    this.#placeLines();
  }

  /** The range that is selected, on the plot or elsewhere. */
  set selected(range: TimeRange | null) {
    if (range?.startMs === this.#selected?.startMs && range?.endMs === this.#selected?.endMs) return;
    this.#selected = range;
    this.#placeSelection();
  }

  override connectedCallback(): void {
    this.#clockLine.className = "plot-clock";
    this.#pointedLine.className = "plot-pointed";
    super.connectedCallback();
  }

  protected content() {
    if (this.#plotted === null) return null;
    const { timestamp, min, max, last } = this.#plotted.series;
    const data = [timestamp, last, min, max] as unknown as uPlot.AlignedData;
    return { options: this.#optionsOf(this.#plotted), data };
  }

  protected onCreated(plot: uPlot): void {
    plot.over.append(this.#pointedLine, this.#clockLine);
    plot.over.addEventListener("click", ({ offsetX }) => this.onSeek(this.#msAt(offsetX)));
    plot.over.addEventListener("mouseleave", () => this.onPoint(null));
    plot.over.addEventListener("mousedown", () => {
      this.#isDragging = true;
      addEventListener("mouseup", () => (this.#isDragging = false), { once: true });
    });
  }

  #optionsOf({ unit, zone, isStepped, isSelectable }: Plotted): Omit<uPlot.Options, "width" | "height"> {
    const axis = { stroke: this.color("--text-soft"), font: "12px system-ui", ticks: { show: false } };
    const grid = { stroke: this.color("--line"), width: 1 };
    const drawn = {
      points: { show: false },
      ...(isStepped ? { paths: uPlot.paths.stepped!({ align: 1 }) } : {}),
    };
    const [line, band] = [this.color("--accent"), `${this.color("--accent")}40`];
    return {
      legend: { show: false },
      padding: [8, 40, 0, 0],
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * MS_PER_SECOND), zone),
      cursor: {
        y: false,
        drag: { x: isSelectable, y: false, setScale: false, dist: DRAG_PIXELS_MIN },
        points: { size: 7 },
      },
      // The axis begins at 0 only if the values are near it: an altitude changes by little.
      scales: { y: { range: (_, from, to) => rangeOf(from, to) } },
      axes: [
        {
          ...axis,
          grid,
          size: X_AXIS_PIXELS,
          space: X_LABEL_PIXELS_MIN,
          values: (_, splits, __, ___, step) => splits.map((second) => timeLabel(second, step, zone)),
        },
        {
          ...axis,
          grid,
          size: Y_AXIS_PIXELS,
          space: 26,
          values: (_, splits) =>
            splits.map((value, index) => (index === splits.length - 1 ? `${value} ${unit}` : value)),
        },
      ],
      series: [
        {},
        { ...drawn, stroke: line, width: 1.5 },
        { ...drawn, stroke: "transparent" },
        { ...drawn, stroke: `${line}a0`, width: 1 }, // The maximum may be a single spike.
      ],
      bands: [{ series: [3, 2], fill: band }],
      hooks: {
        // The scales are final only then.
        draw: [
          () => {
            this.#placeLines();
            if (!this.#isDragging) this.#placeSelection(); // Or the range that the user drags would vanish.
          },
        ],
        setSelect: [({ select: { left, width } }) => this.#select(left, width)],
        setCursor: [
          ({ cursor: { left } }) => {
            if (left !== undefined && left >= 0) this.onPoint(this.#msAt(left));
          },
        ],
      },
    };
  }

  #msAt(pixels: number): number {
    return Math.round(this.plot!.posToVal(pixels, "x") * MS_PER_SECOND);
  }

  #select(left: number, width: number): void {
    if (width === 0) return;
    const range = { startMs: this.#msAt(left), endMs: this.#msAt(left + width) };
    this.#selected = null; // The page answers with the range of the positions within.
    this.onSelect(range);
  }

  #placeSelection(): void {
    const { plot } = this;
    if (plot === null) return;
    const left = this.#selected === null ? 0 : this.#pixelOf(plot, this.#selected.startMs);
    const right = this.#selected === null ? 0 : this.#pixelOf(plot, this.#selected.endMs);
    const width = this.#selected === null ? 0 : Math.max(SELECTED_PIXELS_MIN, right - left);
    plot.setSelect({ left, width, top: 0, height: width === 0 ? 0 : plot.over.clientHeight }, false);
  }

  #pixelOf(plot: uPlot, ms: number): number {
    const pixel = plot.valToPos(ms / MS_PER_SECOND, "x");
    return Math.min(plot.over.clientWidth, Math.max(0, pixel));
  }

  #placeLines(): void {
    this.#place(this.#clockLine, this.#clockMs);
    this.#place(this.#pointedLine, this.#pointedMs);
  }

  #place(line: HTMLElement, ms: number | null): void {
    line.hidden = ms === null;
    if (this.plot === null || ms === null) return;
    const left = this.plot.valToPos(ms / MS_PER_SECOND, "x");
    line.style.transform = `translateX(${left}px)`;
  }
}

/** A label of the time axis, as precise as its steps. */
function timeLabel(second: number, stepSeconds: number, zone: string): string {
  const ms = second * MS_PER_SECOND;
  if (stepSeconds >= DAY_SECONDS) return dayText(dayAt(ms, zone));
  return stepSeconds < MINUTE_SECONDS ? clockText(ms, zone) : minuteText(ms, zone);
}

function rangeOf(from: number, to: number): [number, number] {
  const height = Math.max(to - from, 1);
  const low = from >= 0 && from < height * 2 ? 0 : from - height * 0.1;
  return [low, to + height * 0.1];
}

/** Defines the element, with the style sheet that uPlot needs. Must be called once. */
export async function defineTimePlot(): Promise<void> {
  await loadPlotSheet();
  customElements.define("time-plot", TimePlot);
}
