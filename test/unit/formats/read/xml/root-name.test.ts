import { expect, test } from "bun:test";
import { rootNameOf } from "../../../../../src/formats/read/xml/root-name.ts";

const nameOf = (text: string) => rootNameOf({ text, bytes: new TextEncoder().encode(text) });

test("rootNameOf() finds the first element behind whatever comes before it", () => {
  expect(nameOf("<gpx/>")).toBe("gpx");
  expect(nameOf('<?xml version="1.0"?>\n<!DOCTYPE a><!-- <b> --><c:kml>')).toBe("kml");
  expect(nameOf(`<!--${" ".repeat(5000)}--><kml >`)).toBe("kml");
});

test("rootNameOf() finds none in what is no XML, or ends before it", () => {
  for (const text of [
    "",
    "gpx",
    "{}",
    "<",
    "<gp",
    "<!-- <gpx>",
    "a <b>",
    '{"a":"<gpx>"}',
    `<${"\0".repeat(200_000)}`,
  ])
    expect(nameOf(text)).toBeNull();
});
