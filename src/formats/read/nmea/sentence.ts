/** What a line of a receiver's log holds. */
export type Sentence =
  /** `RMC` of whichever satellites, its fields from the time on. */
  | { readonly kind: string; readonly fields: readonly string[] }
  | { readonly fault: "unreadable" | "bad_checksum" };

/** With a P begin those of a maker, such as Garmin's PGRMC, which is no RMC. */
const SENTENCE = /^[A-OQ-Z][A-Z]([A-Z]{3}),(.*)$/;

/**
 * The sentence of a line, before which loggers may write a time and behind which anything; null where it is one of
 * those that only a maker's own programs know, or of other ships.
 */
export function parseSentence(line: string): Sentence | null {
  const start = line.lastIndexOf("$");
  if (start < 0) return line.includes("!AI") ? null : { fault: "unreadable" };
  const star = line.indexOf("*", start);
  const body = line.slice(start + 1, star < 0 ? undefined : star);
  if (star >= 0 && !isChecksum(line.slice(star + 1, star + 3), body)) return { fault: "bad_checksum" };
  const [, kind, fields] = SENTENCE.exec(body) ?? [];
  if (kind === undefined || fields === undefined)
    return body.startsWith("P") ? null : { fault: "unreadable" };
  return { kind, fields: fields.split(",") };
}

function isChecksum(text: string, body: string): boolean {
  let sum = 0;
  for (let i = 0; i < body.length; i++) sum ^= body.charCodeAt(i);
  return /^[\dA-F]{2}$/i.test(text) && Number.parseInt(text, 16) === sum;
}

/** Milliseconds since midnight of `hhmmss.ss`; null where it is none. */
export function readTimeOfDayMs(text: string | undefined): number | null {
  const [, hours, minutes, seconds] = /^(\d{2})(\d{2})(\d{2}(?:\.\d*)?)$/.exec(text ?? "") ?? [];
  if (!(Number(hours) <= 23 && Number(minutes) <= 59 && Number(seconds) < 61)) return null;
  return (Number(hours) * 60 + Number(minutes)) * 60_000 + Math.round(Number(seconds) * 1000);
}

/** Degrees of `ddmm.mmmm` or `dddmm.mmmm` and a hemisphere; null where they are none. */
export function readDegrees(text: string | undefined, hemisphere: string | undefined): number | null {
  const [, degrees, minutes] = /^(\d{1,3})(\d{2}(?:\.\d*)?)$/.exec(text ?? "") ?? [];
  if (degrees === undefined || hemisphere === undefined || !/^[NSEW]$/.test(hemisphere)) return null;
  // To a tenth of a millimeter, so that a sixtieth leaves no digits that the receiver didn't have.
  const value = Math.round((Number(degrees) + Number(minutes) / 60) * 1e9) / 1e9;
  return hemisphere === "S" || hemisphere === "W" ? 0 - value : value;
}
