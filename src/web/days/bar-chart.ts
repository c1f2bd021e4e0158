import uPlot from "uplot";
import { PlotElement } from "../plots/plot-element.ts";
import { loadPlotSheet } from "../plots/plot-sheet.ts";
import { barByKey } from "./measures.ts";

/** The input of an element, which compares it by its fields. */
export interface Bars {
  /** The label of each bar on the axis. */
  readonly labels: readonly string[];
  /** What each bar stands for and its value, in words: `21 Nov: 12.3 km`. */
  readonly texts: readonly string[];
  /** Null for a bar without a value. */
  readonly values: readonly (number | null)[];
  readonly unit: string;
  /** A change redraws the chart with the page's current colors. */
  readonly theme: string;
}

const Y_AXIS_PIXELS = 58;
const X_AXIS_PIXELS = 24;
const LABEL_PIXELS_MIN = 52;
/** Half a stop makes no sense. */
const COUNT_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];
const BAR_WIDTH = 0.72;
const BAR_PIXELS_MAX = 44;

/**
 * Numbers of days, weeks, months or years as bars. The pointer, or the arrow keys, show the value of a bar; a click or
 * Enter chooses it. For assistive software it is a slider whose value is the text of a bar.
 */
class BarChart extends PlotElement {
  readonly #tip = document.createElement("p");
  readonly #column = document.createElement("div");
  #bars: Bars | null = null;
  /** The bar whose value is shown. */
  #pointed: number | null = null;
  /** Called with the index of a bar. */
  onChoose: (index: number) => void = () => undefined;

  set bars(bars: Bars) {
    if (JSON.stringify(bars) === JSON.stringify(this.#bars)) return;
    this.#bars = bars;
    this.#setValue();
    this.redraw();
  }

  override connectedCallback(): void {
    this.#tip.className = "bar-tip";
    this.#column.className = "bar-column";
    this.role = "slider";
    this.tabIndex = 0;
    this.addEventListener("keydown", this.#press);
    this.addEventListener("blur", this.#leave);
    super.connectedCallback();
  }

  protected content() {
    if (this.#bars === null) return null;
    const { values } = this.#bars;
    const data = [values.map((_, index) => index), values] as unknown as uPlot.AlignedData;
    return { options: this.#optionsOf(this.#bars), data };
  }

  protected onCreated({ over }: uPlot): void {
    over.append(this.#column, this.#tip);
    over.addEventListener("pointermove", ({ offsetX }) => this.#point(this.#indexAt(offsetX)));
    over.addEventListener("pointerleave", this.#leave);
    over.addEventListener("click", ({ offsetX }) => this.onChoose(this.#indexAt(offsetX)));
  }

  readonly #leave = (): void => this.#point(null);

  readonly #press = (event: KeyboardEvent): void => {
    const last = (this.#bars?.values.length ?? 0) - 1;
    if (last < 0) return;
    const at = this.#pointed ?? last;
    if (event.key === "Enter") this.onChoose(at);
    else {
      const next = barByKey(event.key, this.#pointed, last);
      if (next === null) return;
      this.#point(next);
    }
    event.preventDefault();
  };

  #indexAt(pixels: number): number {
    const index = Math.round(this.plot!.posToVal(pixels, "x"));
    return Math.max(0, Math.min(index, this.#bars!.values.length - 1));
  }

  #point(index: number | null): void {
    if (index === this.#pointed) return;
    this.#pointed = index;
    this.#setValue();
    this.#place();
  }

  #setValue(): void {
    const { texts } = this.#bars!;
    const last = texts.length - 1;
    if (this.#pointed !== null && this.#pointed > last) this.#pointed = null;
    this.ariaValueMin = "0";
    this.ariaValueMax = String(last);
    this.ariaValueNow = String(this.#pointed ?? last);
    this.ariaValueText = texts[this.#pointed ?? last] ?? "";
  }

  /** Shows the value above its bar, within the plot. */
  #place(): void {
    const index = this.#pointed;
    const { plot } = this;
    this.#tip.hidden = index === null || plot === null;
    this.#column.hidden = this.#tip.hidden;
    if (index === null || plot === null) return;
    const { clientWidth } = plot.over;
    const left = plot.valToPos(index, "x");
    const pixels = plot.valToPos(index + 1, "x") - left;
    this.#tip.textContent = this.#bars!.texts[index]!;
    this.#tip.style.transform = `translateX(calc(${left}px - ${left / clientWidth} * 100%))`;
    this.#column.style.width = `${pixels}px`;
    this.#column.style.transform = `translateX(${left - pixels / 2}px)`;
  }

  #optionsOf({ labels, unit }: Bars): Omit<uPlot.Options, "width" | "height"> {
    const axis = { stroke: this.color("--text-soft"), font: "12px system-ui", ticks: { show: false } };
    const withUnit = (value: number, isLast: boolean) =>
      isLast && unit !== "" ? `${value} ${unit}` : `${value}`;
    return {
      legend: { show: false },
      padding: [8, 8, 0, 0],
      cursor: { show: false },
      scales: {
        x: { time: false, range: [-0.6, labels.length - 0.4] },
        y: { range: (_, __, to) => [0, to > 0 ? to * 1.08 : 1] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: X_AXIS_PIXELS,
          space: LABEL_PIXELS_MIN,
          incrs: [1, 2, 5, 10, 20, 50],
          values: (_, splits) => splits.map((index) => labels[index] ?? ""),
        },
        {
          ...axis,
          grid: { stroke: this.color("--line"), width: 1 },
          size: Y_AXIS_PIXELS,
          space: 26,
          ...(unit === "" ? { incrs: COUNT_STEPS } : {}),
          values: (_, splits) => splits.map((value, index) => withUnit(value, index === splits.length - 1)),
        },
      ],
      hooks: { draw: [() => this.#place()] }, // The scales are final only then.
      series: [
        {},
        {
          paths: uPlot.paths.bars!({ size: [BAR_WIDTH, BAR_PIXELS_MAX], radius: 0.15 }),
          fill: this.color("--accent"),
          points: { show: false },
        },
      ],
    };
  }
}

/** Defines the element, with the style sheet that uPlot needs. */
export async function defineBarChart(): Promise<void> {
  await loadPlotSheet();
  if (customElements.get("bar-chart") === undefined) customElements.define("bar-chart", BarChart);
}
