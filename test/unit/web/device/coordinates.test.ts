import { expect, test } from "bun:test";
import { Coordinates, coordinatesText } from "../../../../src/web/device/coordinates.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";

const TEXT = "51.50000, -0.12000";

function setUp(writeText?: (text: string) => Promise<void>) {
  const time = new VirtualTime();
  const navigator = writeText === undefined ? {} : { clipboard: { writeText } };
  return { time, coordinates: new Coordinates({ navigator, changed: () => undefined, timers: time }) };
}

test("coordinates are copied, and the button says so for a moment", async () => {
  const copied: string[] = [];
  const { time, coordinates } = setUp(async (text) => void copied.push(text));
  await coordinates.copy(TEXT);
  expect([copied, coordinates.state]).toEqual([[TEXT], "copied"]);
  await time.pass(2500);
  expect(coordinates.state).toBe("ready");
});

test("coordinates are shown where the browser has no clipboard, or refuses, until another device is chosen", async () => {
  for (const write of [undefined, () => Promise.reject(new Error("not allowed"))]) {
    const { coordinates } = setUp(write);
    await coordinates.copy(TEXT);
    expect(coordinates.state).toBe("shown");
    coordinates.reset();
    expect(coordinates.state).toBe("ready");
  }
});

test("coordinates have five decimals", () => {
  expect(coordinatesText(51.5, -0.123456)).toBe("51.50000, -0.12346");
});
