import type { TopLevelSpec } from "vega-lite";

/** Panels side by side and below each other, drawn by a library that only a bench with a plot loads. */
export interface Plot {
  readonly title: string;
  /** How many panels lie side by side. */
  readonly columns: number;
  readonly panelWidth: number;
  readonly panelHeight: number;
  readonly panels: readonly Panel[];
}

export interface Panel {
  /** Short: without a font the library takes it for half as long again, and makes room for that. */
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  /** Named above the panel, in their order. */
  readonly lines: readonly Line[];
}

export interface Axis {
  readonly title: string;
  /** Linear axes begin at 0. A logarithmic one has a mark at each power of ten. */
  readonly scale: "linear" | "log";
  /** Its ends, for panels that are to be compared; as wide as the lines where left out. */
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

/** More points than this are a line without dots. */
const DOTS_MAX = 30;

/** An SVG, with a line for each element and no more than is drawn, so that it diffs. */
export async function drawPlot(plot: Plot): Promise<string> {
  const [{ compile }, { parse, View }] = await Promise.all([import("vega-lite"), import("vega")]);
  const view = new View(parse(compile(specOf(plot)).spec), { renderer: "none" });
  const svg = await view.toSVG();
  view.finalize();
  const drawn = svg.replaceAll(/ (?:class|role|aria-[a-z]+)="[^"]*"/g, "");
  const titled = drawn.replace(">", `><title>${plot.title}</title>`); // For those who hear the page.
  return `${titled.replaceAll("><", ">\n<")}\n`;
}

/** From the power of ten below all values to the one above; one decade at least. */
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
