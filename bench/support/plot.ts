/** A line over a shared axis of days, in a panel of its own. */
export interface Panel {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly Line[];
}

export interface Line {
  readonly name: string;
  /** One value a day. */
  readonly values: readonly number[];
}

const WIDTH = 760;
const PANEL_HEIGHT = 150;
const MARGIN = { top: 44, right: 130, bottom: 36, left: 64 };
const PANEL_GAP = 44;
const COLORS = ["#1f5fa8", "#c2571a", "#3c7d3f"];
const TICKS = 3;

/** An SVG of panels one above the other, each from 0 to its largest value. Text and lines alone, so that it diffs. */
export function plotDays(title: string, panels: readonly Panel[]): string {
  const plotWidth = WIDTH - MARGIN.left - MARGIN.right;
  const height = MARGIN.top + panels.length * (PANEL_HEIGHT + PANEL_GAP) - PANEL_GAP + MARGIN.bottom;
  const days = Math.max(...panels.flatMap(({ lines }) => lines.map(({ values }) => values.length)));
  const x = (day: number) => MARGIN.left + (day / Math.max(1, days - 1)) * plotWidth;
  const parts = panels.map((panel, index) =>
    drawPanel(panel, MARGIN.top + index * (PANEL_HEIGHT + PANEL_GAP), plotWidth, x),
  );
  const axis = dayTicks(days).map((day) => text(x(day), height - 14, `${day}`, "middle"));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="11" fill="#333">
<title>${title}</title>
<rect width="100%" height="100%" fill="#fff"/>
${text(MARGIN.left, 18, title, "start", 'font-size="13" font-weight="bold"')}
${parts.join("\n")}
${axis.join("\n")}
${text(WIDTH - MARGIN.right + 8, height - 14, "days", "start")}
</svg>
`;
}

function drawPanel(
  { title, unit, lines }: Panel,
  top: number,
  plotWidth: number,
  x: (day: number) => number,
): string {
  const largest = roundUp(Math.max(...lines.flatMap(({ values }) => values)));
  const bottom = top + PANEL_HEIGHT;
  const y = (value: number) => bottom - (value / largest) * PANEL_HEIGHT;
  const grid = Array.from({ length: TICKS + 1 }, (_, tick) => (largest * tick) / TICKS).map(
    (value) =>
      `<path d="M${MARGIN.left} ${tenths(y(value))}h${plotWidth}" stroke="#ddd"/>${text(MARGIN.left - 6, y(value) + 4, short(value), "end")}`,
  );
  const drawn = lines.map(({ name, values }, index) => {
    const color = COLORS[index % COLORS.length]!;
    const points = values.map((value, day) => `${tenths(x(day))},${tenths(y(value))}`).join(" ");
    const label = text(MARGIN.left + plotWidth + 8, y(values.at(-1)!) + 4, name, "start", `fill="${color}"`);
    return `<polyline points="${points}" fill="none" stroke="${color}" stroke-width="1.5"/>${label}`;
  });
  return [text(MARGIN.left, top - 8, `${title}, ${unit}`, "start"), ...grid, ...drawn].join("\n");
}

function text(atX: number, atY: number, content: string, anchor: string, more = ""): string {
  return `<text x="${tenths(atX)}" y="${tenths(atY)}" text-anchor="${anchor}" ${more}>${content}</text>`;
}

function dayTicks(days: number): number[] {
  const step = days > 60 ? 50 : Math.max(1, Math.ceil(days / 6));
  return Array.from({ length: Math.floor((days - 1) / step) + 1 }, (_, index) => index * step);
}

/** The next number that reads well: 3, 6 or 9 in its first place, so that thirds do too. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
  return [1.5, 3, 6, 9, 12].map((first) => first * power).find((rounded) => rounded >= value)!;
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}

function tenths(value: number): string {
  return String(Math.round(value * 10) / 10);
}
