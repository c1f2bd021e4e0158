import uPlot from "uplot";
import { PlotElement } from "../plots/plot-element.ts";
import { loadPlotSheet } from "../plots/plot-sheet.ts";

/** The input of an element, which compares it by its fields. */
export interface Bars {
  /** The label of each bar on the axis. */
  readonly labels: readonly string[];
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

/** Numbers of days, weeks, months or years as bars. */
class BarChart extends PlotElement {
  #bars: Bars | null = null;
  /** Called with the index of a bar. */
  onChoose: (index: number) => void = () => undefined;

  set bars(bars: Bars) {
    if (JSON.stringify(bars) === JSON.stringify(this.#bars)) return;
    this.#bars = bars;
    this.redraw();
  }

  protected content() {
    if (this.#bars === null) return null;
    const { values } = this.#bars;
    const data = [values.map((_, index) => index), values] as unknown as uPlot.AlignedData;
    return { options: this.#optionsOf(this.#bars), data };
  }

  protected onCreated(plot: uPlot): void {
    plot.over.addEventListener("click", ({ offsetX }) => {
      const index = Math.round(plot.posToVal(offsetX, "x"));
      if (index >= 0 && index < this.#bars!.values.length) this.onChoose(index);
    });
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
