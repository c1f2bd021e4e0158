import { expect, test } from "bun:test";
import { ASSIGN, HIDE, SHIFT } from "../../../../src/web/corrections/change.ts";
import type { CorrectionRecord, Outlier } from "../../../../src/web/corrections/correction-requests.ts";
import {
  actionText,
  confirmText,
  confirmTitle,
  correctionTimes,
  doneText,
  handleName,
  hideAllText,
  makerText,
  moveText,
  reasonText,
  selectionText,
  suspiciousText,
  undoneText,
} from "../../../../src/web/corrections/correction-texts.ts";
import { type Selection, selectionOf } from "../../../../src/web/corrections/selection.ts";
import { correctionOf } from "./correcting-parts.ts";

const NOON_MS = Date.UTC(2026, 10, 10, 12);
const DAY_MS = 86_400_000;
const AT = { timestamp: NOON_MS, latitude: 1, longitude: 2 };

/** Browsers put narrow spaces into times. */
const plain = (text: string | null) => text?.replaceAll(/[\u202f\u00a0]/g, " ") ?? null;

test("counts agree with their nouns and verbs", () => {
  expect([0, 1, 3].map(suspiciousText)).toEqual([
    ...["No suspicious positions", "1 suspicious position", "3 suspicious positions"],
  ]);
  expect([1, 1204].map((records) => doneText(correctionOf("a", { records }), String))).toEqual([
    "1 position is hidden.",
    "1,204 positions are hidden.",
  ]);
  expect([null, 1, 1204].map((records) => confirmTitle(HIDE, records))).toEqual([
    ...["Hide all positions of this time?", "Hide 1 position?", "Hide 1,204 positions?"],
  ]);
});

test("the dialog says what is done, before, during and after it", () => {
  const done = (change: Partial<CorrectionRecord>) =>
    doneText(correctionOf("a", change), (id) => `device ${id}`);
  expect([
    done({ action: "move", records: 1 }),
    done({ action: "shift_time" }),
    done({ action: "mirror" }),
  ]).toEqual([...["1 position is moved.", "2 positions are shifted in time.", "2 positions are corrected."]]);
  expect(done({ action: "assign", to_device_id: "b" })).toBe("2 positions are given to device b.");
  expect([confirmTitle(SHIFT, 3), confirmText(SHIFT, 3, false), confirmText(SHIFT, 3, true)]).toEqual([
    ...["Correct 3 positions?", "Shift 3 positions", "Shifting…"],
  ]);
  expect([confirmText(HIDE, null, false), confirmText(ASSIGN, 1, false)]).toEqual([
    "Hide",
    "Give 1 position",
  ]);
});

test("undoneText() says what is as it was", () => {
  const text = (action: string, records: number) => undoneText({ action, records });
  expect([text("hide", 1), text("hide", 2), text("move", 1), text("shift_time", 3)]).toEqual([
    "1 position is shown again.",
    "2 positions are shown again.",
    "The position is back where it was reported.",
    "3 positions are as reported again.",
  ]);
});

test("hideAllText() says how many of the suspicious positions one click asks for", () => {
  expect([hideAllText(1, 1), hideAllText(3, 3), hideAllText(1000, 2500)]).toEqual([
    ...["Hide it…", "Hide all 3…", "Hide the first 1,000…"],
  ]);
});

test("reasonText() says why a position is suspicious, in the user's units, for reasons of newer servers too", () => {
  const jump: Outlier = { ...AT, reason: "jump", speed_mps: 396.07 };
  expect(reasonText(jump, "metric")).toBe("Jump, 1426 km/h there and back");
  expect(reasonText(jump, "miles")).toBe("Jump, 886 mph there and back");
  expect(reasonText({ ...AT, reason: "zero_position" }, "metric")).toBe("Exactly at 0°, 0°");
  expect(reasonText({ ...AT, reason: "inaccurate" }, "metric")).toBe("Inaccurate");
  expect(reasonText({ ...AT, reason: "frozen" as "jump" }, "metric")).toBe("Suspicious");
});

test("selectionText() has the count and the times: to the second within a minute, with the days if they differ", () => {
  const text = (selection: Selection) => plain(selectionText(selection, "UTC"));
  expect(text(selectionOf([NOON_MS, NOON_MS + 150_000]))).toMatch(
    /^2 positions, 12:00( PM)? – 12:02( PM)? UTC$/,
  );
  expect(plain(selectionText(selectionOf([NOON_MS]), "UTC", 12))).toStartWith("12 positions, ");
  expect(text(selectionOf([NOON_MS + 7000]))).toMatch(/^1 position, 12:00:07( PM)? UTC$/);
  const range = { startMs: NOON_MS, endMs: NOON_MS + DAY_MS };
  expect(text({ timestampMs: [NOON_MS], isExact: false, range })).toMatch(
    /^All positions, Tue, Nov 10, 2026, 12:00( PM)? UTC – Wed, Nov 11, 2026, 12:00( PM)? UTC$/,
  );
});

test("moveText() says how to begin a move, and how far it goes", () => {
  const from = { latitude: 51.5, longitude: 0 };
  const move = { timestampMs: NOON_MS, from, to: from };
  expect(moveText(move, "12:00:00 UTC", "metric")).toBe(
    "Drag the position of 12:00:00 UTC, or click where it belongs.",
  );
  expect(moveText({ ...move, to: { latitude: 51.502, longitude: 0 } }, "12:00:00 UTC", "metric")).toBe(
    "12:00:00 UTC: 222 m N of where it was.",
  );
  expect(handleName("12:00:00 UTC")).toStartWith("Position of 12:00:00 UTC: ");
});

test("actionText() says of each action what it does, of those of newer servers too", () => {
  const text = (change: Partial<CorrectionRecord>) =>
    actionText(correctionOf("a", { records: 3, ...change }), (id) => `device ${id}`);
  expect(text({ action: "hide" })).toBe("3 positions hidden");
  expect(text({ action: "move", records: 1, latitude: 51.5033, longitude: -0.1 })).toBe(
    "1 position moved to 51.50330, -0.10000",
  );
  expect(text({ action: "move", records: 1 })).toBe("1 position moved to another place");
  expect(text({ action: "shift_time", by_ms: 3_900_000 })).toBe("3 positions 1 h 5 min later");
  expect(text({ action: "shift_time", by_ms: -30_000 })).toBe("3 positions 30 s earlier");
  expect(text({ action: "assign", to_device_id: "b" })).toBe("3 positions given to device b");
  expect(text({ action: "assign", to_user_id: "ann" })).toBe("3 positions given to the user ann");
  expect(text({ action: "mirror" })).toBe("3 positions corrected");
});

test("correctionTimes() has the day and its times, or the first and the last day", () => {
  const times = (first: number, last: number, zone = "UTC") =>
    plain(correctionTimes(correctionOf("a", { first, last }), zone));
  expect(times(NOON_MS, NOON_MS + 600_000)).toMatch(/^Nov 10, 2026, 12:00( PM)? – 12:10( PM)? UTC$/);
  expect(times(NOON_MS, NOON_MS + DAY_MS)).toBe("Nov 10, 2026 – Nov 11, 2026");
  expect(times(NOON_MS, NOON_MS + 60_000, "Asia/Tokyo")).toStartWith("Nov 10, 2026, ");
});

test("makerText() names the key that made a correction, and when", () => {
  const text = (ownKeyId: string | null) =>
    plain(makerText(correctionOf("a", { created: NOON_MS, created_by: "key_1" }), ownKeyId, "UTC"));
  expect(text("key_1")).toBe("By this key, Nov 10, 2026");
  expect([text("key_2"), text(null)].every((each) => each!.startsWith("By key_1, "))).toBe(true);
});
