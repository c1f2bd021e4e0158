import { decadesAround, drawPlot, type Line, type Panel } from "../figures/plot.ts";

/** Query times in cities that grow in one way, by size. */
export interface Growth {
  /** The way of growing. */
  readonly title: string;
  readonly cities: readonly GrownCity[];
}

export interface GrownCity {
  readonly devices: number;
  readonly linearScanMicros: number;
  readonly queryMicros: number;
  readonly moveMicros: number;
  /** The index's memory per device. */
  readonly heapBytesPerDevice: number;
  readonly residentBytesPerDevice: number;
}

/**
 * Plots times above memory, with a column for each way to grow. Times have logarithmic axes, so proportional growth is
 * a diagonal and constant time is level.
 */
export function plotGrowth(growths: readonly Growth[]): Promise<string> {
  const cities = growths.flatMap((growth) => growth.cities);
  const micros = decadesAround(
    cities.flatMap((city) => [city.linearScanMicros, city.queryMicros, city.moveMicros]),
  );
  const bytes = cities.flatMap((city) => [city.heapBytesPerDevice, city.residentBytesPerDevice]);
  const byteRange = [Math.min(0, ...bytes), Math.max(...bytes)] as const; // Negative if pages were returned.
  return drawPlot({
    title: "Finding who is near, as the devices grow in number",
    columns: growths.length,
    panelWidth: 300,
    panelHeight: 190,
    panels: [
      ...growths.map((growth) => timePanel(growth, micros)),
      ...growths.map((growth) => memoryPanel(growth, byteRange)),
    ],
  });
}

function timePanel({ title, cities }: Growth, domain: readonly [number, number]): Panel {
  return {
    title: `${title}: time`,
    x: { title: "devices", scale: "log" },
    y: { title: "µs", scale: "log", domain },
    lines: [
      lineOf("linear scan", cities, (city) => city.linearScanMicros),
      lineOf("query", cities, (city) => city.queryMicros),
      lineOf("move", cities, (city) => city.moveMicros),
    ],
  };
}

function memoryPanel({ title, cities }: Growth, domain: readonly [number, number]): Panel {
  return {
    title: `${title}: memory of the index`,
    x: { title: "devices", scale: "log" },
    y: { title: "bytes a device", scale: "linear", domain },
    lines: [
      lineOf("resident", cities, (city) => city.residentBytesPerDevice),
      lineOf("heap", cities, (city) => city.heapBytesPerDevice),
    ],
  };
}

function lineOf(name: string, cities: readonly GrownCity[], value: (city: GrownCity) => number): Line {
  return { name, points: cities.map((city) => ({ x: city.devices, y: value(city) })) };
}
