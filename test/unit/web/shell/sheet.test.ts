import { expect, test } from "bun:test";
import { Sheet } from "../../../../src/web/shell/sheet.ts";

test("a tap on the sheet's grip goes round its heights, a drag goes one up or down", () => {
  let changes = 0;
  const sheet = new Sheet(() => changes++);
  const drag = (from: number, to: number) => {
    sheet.beginDrag(from);
    sheet.endDrag(to);
    return sheet.height;
  };
  expect(sheet.height).toBe("half");
  expect([drag(500, 505), drag(500, 500), drag(500, 495)]).toEqual(["full", "low", "half"]);
  expect([drag(500, 300), drag(500, 300)]).toEqual(["full", "full"]);
  expect([drag(300, 500), drag(300, 500), drag(300, 500)]).toEqual(["half", "low", "low"]);
  sheet.endDrag(10);
  expect(sheet.height).toBe("low");
  expect(changes).toBe(8);
});

test("a low sheet rises when a panel is to be seen, a full one stays", () => {
  const sheet = new Sheet(() => undefined);
  sheet.move(-1);
  sheet.show("device");
  expect([sheet.tab, sheet.height]).toEqual(["device", "half"]);
  sheet.move(1);
  sheet.show("time");
  expect([sheet.tab, sheet.height]).toEqual(["time", "full"]);
});
