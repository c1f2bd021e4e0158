import { expect, test } from "bun:test";
import { parseCredits, textOf } from "../../../src/map/credits.ts";

test("links stay links, text stays text, and blanks between them stay", () => {
  const html = ` <a href="https://protomaps.com">Protomaps</a> &copy;\n <a target=_blank href='https://www.openstreetmap.org/copyright?a=1&amp;b=2'><b>Open</b>StreetMap</a> `;
  expect(parseCredits(html)).toEqual([
    { text: "Protomaps", url: "https://protomaps.com/" },
    { text: " © ", url: null },
    { text: "OpenStreetMap", url: "https://www.openstreetmap.org/copyright?a=1&b=2" },
  ]);
  expect(textOf(parseCredits(html))).toBe("Protomaps © OpenStreetMap");
});

test.each([
  "javascript:alert(1)",
  "&#106;avascript:alert(1)",
  "http://osm.example",
  "//osm.example",
  "data:text/html,x",
  "https://me:secret@osm.example",
  `https://osm.example/${"x".repeat(400)}`,
])("an address that is not plain https is no link: %s", (href) => {
  expect(parseCredits(`<a href="${href}">OSM</a>`)).toEqual([{ text: "OSM", url: null }]);
});

test("what is no text, or empty, has no pieces; what is too long is cut", () => {
  for (const none of [undefined, 5, {}, "", "<b></b> "]) expect(parseCredits(none)).toEqual([]);
  const long = `<a href="https://a.example">${"a".repeat(150)}</a>${"b".repeat(5000)}`;
  expect(parseCredits(long).map(({ text }) => text.length)).toEqual([150, 50]);
});
