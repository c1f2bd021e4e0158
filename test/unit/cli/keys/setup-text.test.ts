import { expect, test } from "bun:test";
import { qrCode, type SetupText, setupText } from "../../../../src/cli/keys/setup-text.ts";
import { CLIENT_NAMES, type ClientName } from "../../../../src/clients/client.ts";
import { SETUPS } from "../../../../src/clients/setups.ts";
import * as fc from "../../../support/fast-check.ts";
import { readQr } from "../../../support/read-qr.ts";

const KEY = "wh_0123456789abcdefghijABCDEFGHIJ0123456789abcdefghijABC";
const BOUND = { serverUrl: "https://wherehouse.example.org", deviceId: "pixel7", userId: "anna" };

/** Clients that read a code. */
const SCANNING: readonly ClientName[] = ["owntracks", "overland", "traccar", "colota"];

function wholeOf({ fields, code, notes }: SetupText): string {
  return fields + (code ?? "") + notes;
}

test.each(CLIENT_NAMES)(
  "%s: a code where the app reads one, which fits 80 columns and says what the link does",
  (client) => {
    const { code, fields } = setupText(client, BOUND, KEY, 80);
    const { link } = SETUPS[client]({ ...BOUND, key: KEY });
    expect(code !== null).toBe(SCANNING.includes(client));
    if (code === null) return;
    expect(readQr(code)).toBe(link!.url);
    expect(fields).not.toContain(link!.url);
  },
);

test.each([40, null])("at %p columns there is the link instead", (columns) => {
  for (const client of SCANNING) {
    const { code, fields } = setupText(client, BOUND, KEY, columns);
    expect(code).toBeNull();
    expect(fields).toContain(" (a wider terminal shows the code):\n");
    expect(fields).toContain(`\n  ${SETUPS[client]({ ...BOUND, key: KEY }).link!.url}\n`);
  }
});

test("where nobody said the server's address, a placeholder shows, and neither code nor link holds it", () => {
  for (const client of CLIENT_NAMES) {
    const shown = setupText(client, { ...BOUND, serverUrl: null }, KEY, 80);
    expect(shown.code).toBeNull();
    expect(shown.fields).toContain("YOUR-HOST");
    expect(shown.fields).not.toContain("://setup");
    expect(shown.notes).toContain("--url");
  }
});

test("a field that is the key does not say it again, and a terminal shows no key twice", () => {
  for (const client of CLIENT_NAMES) {
    const shown = wholeOf(setupText(client, BOUND, KEY, 80));
    expect(shown.split(KEY).length - 1).toBe(["owntracks", "overland", "colota"].includes(client) ? 0 : 1);
  }
  expect(setupText("owntracks", BOUND, KEY, 80).fields).toContain("\n  Password   the key\n");
});

test("qrCode() draws what a reader of the standard reads, in every size that a link has", () => {
  for (let length = 20; length < 800; length += 13) {
    const link = `https://h/${"wh_0aZ/?&=%".repeat(80)}`.slice(0, length);
    expect(readQr(qrCode(link, 200)!)).toBe(link);
  }
});

test("qrCode() draws any text", () => {
  const text = fc.string({ minLength: 1, maxLength: 100, unit: "grapheme" }).map((drawn) => `ä${drawn}`);
  fc.assert(
    fc.property(text, (drawn) => readQr(qrCode(drawn, 200)!) === drawn),
    { numRuns: 50 },
  );
});

test("qrCode() is null where the terminal has fewer columns than it needs", () => {
  const columns = qrCode("https://example.org/", 200)!.indexOf("\n");
  expect(qrCode("https://example.org/", columns)).not.toBeNull();
  expect(qrCode("https://example.org/", columns - 1)).toBeNull();
});
