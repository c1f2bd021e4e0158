import { expect, test } from "bun:test";
import { DEVICE_ICONS as ICONS_OF_PROFILES } from "../../../../src/model/device-profile.ts";
import { inkOn } from "../../../../src/web/devices/device-badge.ts";
import { DEVICE_ICONS, type DeviceIcon, iconLabel } from "../../../../src/web/devices/device-icons.ts";

test("the page draws every icon that a profile may have", () => {
  expect(Object.keys(DEVICE_ICONS).sort()).toEqual([...ICONS_OF_PROFILES].sort());
  for (const outline of Object.values(DEVICE_ICONS)) expect(outline).toMatch(/^M[\d\s.,a-zA-Z-]+$/);
  expect((Object.keys(DEVICE_ICONS) as DeviceIcon[]).map(iconLabel)).toContain("Motorcycle");
});

test.each([
  ["#000000", "#ffffff"],
  ["#1a73e8", "#ffffff"],
  ["#d93025", "#ffffff"],
  ["#f2b600", "#0c1722"],
  ["#FFFFFF", "#0c1722"],
  ["#00ff00", "#0c1722"],
])("an icon on %s is drawn in %s", (color, ink) => {
  expect(inkOn(color)).toBe(ink);
});
