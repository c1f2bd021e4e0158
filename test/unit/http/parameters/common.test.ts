import { expect, test } from "bun:test";
import { bbox } from "../../../../src/http/parameters/common.ts";

const parameter = bbox("What is looked at.");

function read(text: string | null) {
  const parsed = parameter.parse("bbox", text);
  if (!parsed.ok) return parsed.error;
  const box = parsed.value;
  return box === null ? null : [box.west, box.south, box.east, box.north];
}

test("bbox reads west,south,east,north in degrees", () => {
  expect(read("-71.2,42.25,-70.95,42.4")).toEqual([-71.2, 42.25, -70.95, 42.4]);
  expect(read("-180,-90,180,90")).toEqual([-180, -90, 180, 90]);
  expect(read("178,-20,-178,-15")).toEqual([178, -20, -178, -15]);
  expect(read("-0,-0.0,0,0")).toEqual([0, 0, 0, 0]);
  expect(read(null)).toBeNull();
});

test("bbox says what is wrong with what it refuses", () => {
  const refused = (text: string, message: string) =>
    expect({ text, error: read(text) }).toEqual({ text, error: { kind: "invalid_parameter", message } });
  const unread = "bbox must be west,south,east,north: four numbers in plain decimals";
  for (const text of [
    "",
    ",",
    "1,2,3",
    "1,2,3,",
    "1,2,3,4,",
    "1,2,3,4,5",
    "a,2,3,4",
    "1, 2,3,4",
    "1e1,2,3,4",
  ])
    refused(text, unread);
  for (const text of ["0x1,2,3,4", "NaN,2,3,4", "Infinity,2,3,4", "1;2;3;4", "+1,2,3,4", ".5,2,3,4"])
    refused(text, unread);
  for (const text of ["-180.1,0,0,1", "0,0,180.00001,1", "-999,0,999,1"])
    refused(text, "bbox must have west and east between -180 and 180");
  for (const text of ["0,-90.1,1,1", "0,0,1,90.5"])
    refused(text, "bbox must have south and north between -90 and 90");
  refused("0,2,1,1", "bbox must not have south above north");
});

test("bbox matches its own pattern in the document", () => {
  const pattern = new RegExp(String(parameter.schema.pattern));
  for (const text of ["-71.2,42.25,-70.95,42.4", "178,-20,-178,-15"]) expect(text).toMatch(pattern);
  for (const text of ["1,2,3", "1,2,3,4,5", " 1,2,3,4"]) expect(text).not.toMatch(pattern);
});
