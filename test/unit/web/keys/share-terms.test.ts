import { expect, test } from "bun:test";
import { type ShareTerms, shareRange } from "../../../../src/web/keys/share-terms.ts";

const NOW = Date.parse("2026-03-29T12:00:00Z");
const TERMS: ShareTerms = { until: 1, ownUntil: "", from: 2, ownFrom: "", precision: 0 };
const OWN_UNTIL = { ...TERMS, until: 4 };
const OWN_FROM = { ...TERMS, from: 4 };

test("from now on, for eight hours", () => {
  expect(shareRange(TERMS, "UTC", NOW, [])).toEqual({ notBeforeMs: NOW, expiresMs: NOW + 8 * 3_600_000 });
});

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

/** From when on a link shows positions that begins with the last ones. */
function fromLast(lastMs: readonly number[], precision = 0) {
  const range = shareRange({ ...TERMS, from: 0, precision }, "UTC", NOW, lastMs);
  return typeof range === "string" ? range : range.notBeforeMs;
}

test("from the last position on, however old it is, whose minute cells show whole", () => {
  const last = NOW - 90 * DAY - 1234;
  expect(fromLast([last])).toBe(last);
  expect(fromLast([last], 2)).toBe(NOW - 90 * DAY - MINUTE);
  expect([fromLast([]), fromLast([NOW + 5000])]).toEqual([NOW, NOW]); // None yet, and a clock that is fast.
});

test("of several devices the oldest last position of the last day begins", () => {
  expect(fromLast([NOW - MINUTE, NOW - DAY, NOW - 90 * DAY])).toBe(NOW - DAY);
  expect(fromLast([NOW - 2 * DAY, NOW - 3 * DAY])).toBe(NOW);
});

test("a link may begin half an hour before the last position, and shows whole minutes if it blurs", () => {
  const from = (precision: number, lastMs: readonly number[]) =>
    shareRange({ ...TERMS, from: 1, precision }, "UTC", NOW, lastMs);
  const last = NOW - 90 * DAY - 1234;
  expect(from(0, [last])).toMatchObject({ notBeforeMs: last - 30 * MINUTE });
  expect(from(2, [last])).toMatchObject({ notBeforeMs: NOW - 90 * DAY - 31 * MINUTE });
  expect(from(0, [])).toMatchObject({ notBeforeMs: NOW - 30 * MINUTE });
});

test("today begins at the zone's midnight", () => {
  const range = shareRange({ ...TERMS, from: 3 }, "Europe/Berlin", NOW, []);
  expect(range).toMatchObject({ notBeforeMs: Date.parse("2026-03-28T23:00:00Z") });
});

test("an instant of one's own is of the zone that is shown", () => {
  const terms = { ...OWN_UNTIL, ownUntil: "2026-03-29T18:30", from: 4, ownFrom: "2026-03-29T01:00" };
  expect(shareRange(terms, "Europe/Berlin", NOW, [])).toEqual({
    notBeforeMs: Date.parse("2026-03-29T00:00:00Z"),
    expiresMs: Date.parse("2026-03-29T16:30:00Z"),
  });
});

test("what shows nothing is refused, and why is said", () => {
  const refused = [
    { ...OWN_UNTIL, ownUntil: "" },
    { ...OWN_UNTIL, ownUntil: "2026-03-29T11:59" },
    { ...OWN_FROM, ownFrom: "" },
    { ...OWN_FROM, ownFrom: "2026-04-29T11:59" },
  ];
  expect(refused.map((terms) => shareRange(terms, "UTC", NOW, []))).toEqual([
    "Enter when the link ends.",
    "The link must end in the future.",
    "Enter when the positions begin.",
    "The link must end after its positions begin.",
  ]);
});
