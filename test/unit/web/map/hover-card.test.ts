import { expect, test } from "bun:test";
import { cardPlace } from "../../../../src/web/map/hover-card.ts";

test("a card is beside its dot, on the side that has more space", () => {
  expect(cardPlace({ x: 100.4, y: 50 }, 1000, 600)).toBe("116px 50px");
  expect(cardPlace({ x: 900, y: 50 }, 1000, 600)).toBe("calc(884px - 100%) 50px");
  expect(cardPlace({ x: 100, y: 590 }, 1000, 600)).toBe("116px calc(590px - 100%)");
});
