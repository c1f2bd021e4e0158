import type { Draw } from "./draw.ts";

/** JSON like this, with some of its values exchanged, left out or doubled; or a text that is none any more. */
export function changeJson(draw: Draw, text: string): string {
  if (draw.chance(4)) return spliced(draw, text);
  const value: unknown = JSON.parse(text);
  let changed = value;
  for (let changes = 1 + draw.upTo(2); changes > 0; changes--) changed = change(draw, changed);
  return JSON.stringify(changed);
}

const NUMBERS = [0, 1, -1, 2, 1.5, 1e21, 2 ** 53, -(2 ** 31), 1e308];
const TEXTS = ["../../etc/passwd", "a/../../b", "a//b", "/a", "a\\b", "2026-02-30", "__proto__", "NaN", ""];

/** Another value of the same type, which checks of types let pass. */
function drawLike(draw: Draw, value: unknown): unknown {
  if (typeof value === "string") return draw.chance(2) ? draw.pick(TEXTS) : `${value}${draw.text(4)}`;
  if (typeof value === "number") return draw.chance(2) ? draw.pick(NUMBERS) : value + draw.upTo(2) - 1;
  return drawJson(draw);
}

/** Any JSON value, of the kinds that a parser may take for another. */
export function drawJson(draw: Draw, depth = 3): unknown {
  switch (draw.upTo(depth > 0 ? 7 : 5)) {
    case 0:
      return draw.pick(NUMBERS);
    case 1:
      return draw.text(20);
    case 2:
      return null;
    case 3:
      return draw.chance(2);
    case 4:
      return draw.pick(TEXTS);
    case 5:
      return draw.upTo(2 ** 40);
    case 6:
      return draw.list(3, () => drawJson(draw, depth - 1));
    default:
      return Object.fromEntries(draw.list(3, () => [draw.text(8), drawJson(draw, depth - 1)]));
  }
}

/** Goes down to a value that the draw picks, and changes that one. */
function change(draw: Draw, value: unknown): unknown {
  const isInner = typeof value === "object" && value !== null && Object.keys(value).length > 0;
  if (!isInner) return draw.chance(2) ? drawLike(draw, value) : drawJson(draw);
  if (draw.chance(8)) return drawJson(draw);
  if (Array.isArray(value)) {
    const index = draw.upTo(value.length - 1);
    if (draw.chance(6)) return value.toSpliced(index, 1);
    if (draw.chance(6)) return [...value, value[index]];
    return value.with(index, change(draw, value[index]));
  }
  const names = Object.keys(value);
  const name = draw.pick(names);
  const { [name]: member, ...others } = value as Record<string, unknown>;
  if (draw.chance(6)) return others;
  return { ...value, [name]: change(draw, member) };
}

const TOKENS = [
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  '"',
  "\\",
  "\\ud800",
  "\\u0000",
  "1e999",
  "-",
  "null",
  "\n",
  "\uFEFF",
  " ",
];

function spliced(draw: Draw, text: string): string {
  const at = draw.upTo(text.length);
  return text.slice(0, at) + draw.pick(TOKENS) + text.slice(at + draw.upTo(3));
}
