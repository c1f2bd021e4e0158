import type { TopLevelSpec } from "vega-lite";

/** Panels in a grid, drawn by a library that only benches with a plot load. */
export interface Plot {
  readonly title: string;
  /** The number of panels in a row. */
  readonly columns: number;
  readonly panelWidth: number;
  readonly panelHeight: number;
  readonly panels: readonly Panel[];
}

export interface Panel {
  /** Must be short: without a font the library overestimates its width by half. */
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  /** The lines, named above the panel in this order. */
  readonly lines: readonly Line[];
}

export interface Axis {
  readonly title: string;
  /** Linear axes begin at 0. A logarithmic axis has a mark at each power of ten. */
  readonly scale: "linear" | "log";
  /** The range of the axis, for comparable panels; defaults to that of the lines. */
  readonly domain?: readonly [number, number];
}

export interface Line {
  readonly name: string;
  readonly points: readonly Point[];
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

type PanelSpec = Extract<TopLevelSpec, { concat: unknown }>["concat"][number];

const COLORS = ["#1f5fa8", "#c2571a", "#3c7d3f"];

/** A line with more points has no dots. */
const DOTS_MAX = 30;

/** Draws an SVG with an element per line and limited digits, so that it diffs well. */
export async function drawPlot(plot: Plot): Promise<string> {
  const [{ compile }, { parse, View }] = await Promise.all([import("vega-lite"), import("vega")]);
  const view = new View(parse(compile(specOf(plot)).spec), { renderer: "none" });
  const svg = await view.toSVG();
  view.finalize();
  const drawn = svg.replaceAll(/ (?:class|role|aria-[a-z]+)="[^"]*"/g, "");
  const titled = drawn.replace(">", `><title>${plot.title}</title>`); // For screen readers.
  return `${titled.replaceAll("><", ">\n<")}\n`;
}

/** The range of powers of ten around all values; at least one decade. */
export function decadesAround(values: readonly number[]): [number, number] {
  const first = Math.floor(Math.log10(Math.min(...values)));
  const last = Math.ceil(Math.log10(Math.max(...values)));
  return [10 ** first, 10 ** Math.max(first + 1, last)];
}

function specOf({ title, columns, panelWidth, panelHeight, panels }: Plot): TopLevelSpec {
  return {
    title: { text: title, anchor: "start", offset: 16 },
    padding: 12,
    background: "#fff",
    columns,
    spacing: 28,
    concat: panels.map((panel) => specOfPanel(panel, panelWidth, panelHeight)),
    resolve: { scale: { color: "independent" }, legend: { color: "independent" } },
    config: {
      aria: false,
      font: "sans-serif",
      title: { fontSize: 13 },
      axis: { labelFontSize: 11, titleFontSize: 11, titleFontWeight: "normal", gridColor: "#ddd" },
      legend: {
        orient: "top",
        title: null,
        offset: 6,
        labelFontSize: 11,
        symbolType: "stroke",
        symbolStrokeWidth: 2,
      },
    },
  };
}

function specOfPanel({ title, x, y, lines }: Panel, width: number, height: number): PanelSpec {
  const values = lines.flatMap(({ name, points }) => points.map((point) => ({ name, ...point })));
  const names = lines.map(({ name }) => name);
  const hasDots = lines.every(({ points }) => points.length <= DOTS_MAX);
  return {
    title: { text: title, anchor: "start", frame: "group", fontWeight: "normal", fontSize: 12 },
    width,
    height,
    data: { values },
    mark: { type: "line", strokeWidth: 1.5, point: hasDots ? { size: 24 } : false },
    encoding: {
      x: {
        field: "x",
        type: "quantitative",
        ...axisOf(
          x,
          values.map((point) => point.x),
          false,
        ),
      },
      y: {
        field: "y",
        type: "quantitative",
        ...axisOf(
          y,
          values.map((point) => point.y),
          true,
        ),
      },
      color: {
        field: "name",
        type: "nominal",
        scale: { domain: names, range: names.map((_, index) => COLORS[index % COLORS.length]!) },
        legend: names.length > 1 ? {} : null,
      },
    },
  };
}

function axisOf({ title, scale, domain }: Axis, values: readonly number[], grid: boolean) {
  const axis = { title, grid, labelFlush: false };
  if (scale === "linear") {
    const ends = domain === undefined ? {} : { domain: [...domain] };
    return { scale: { zero: true, nice: true, ...ends }, axis: { ...axis, tickCount: 5 } };
  }
  const [from, to] = domain ?? decadesAround(values);
  const first = Math.round(Math.log10(from));
  const decades = Math.round(Math.log10(to)) - first;
  const powers = Array.from({ length: decades + 1 }, (_, step) => 10 ** (first + step));
  return {
    scale: { type: "log" as const, domain: [from, to], nice: false },
    axis: { ...axis, values: powers, labelExpr: "format(datum.value, datum.value < 1 ? '~r' : '~s')" },
  };
}
