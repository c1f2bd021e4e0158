import { expect, test } from "bun:test";
import { identify, type Sender } from "../../../src/clients/identity.ts";
import type { AppId } from "../../../src/model/ids.ts";

const SENDER: Sender = {
  appId: "fleet" as AppId,
  keyId: "k_1",
  lastFour: "7xYz",
  deviceId: null,
  userId: null,
  mayRead: false,
};
const NOWHERE = { device: null, user: null };
const OWNTRACKS = { name: "owntracks", mustNameDevice: false } as const;
const OSMAND = { name: "osmand", mustNameDevice: false } as const;
const TRACCAR = { name: "traccar", mustNameDevice: true } as const;

test("a bound key wins over the URL, the URL over the client, and the client over its name with the key's end", () => {
  const claim = { device: "pixel", user: "anna" };
  const address = { device: "car", user: "bea" };
  const bound = { ...SENDER, deviceId: "truck", userId: "carl" };
  expect(identify(bound, address, OWNTRACKS, claim)).toEqual({ deviceId: "truck", userId: "carl" });
  expect(identify(SENDER, address, OWNTRACKS, claim)).toEqual({ deviceId: "car", userId: "bea" });
  expect(identify(SENDER, NOWHERE, OWNTRACKS, claim)).toEqual({ deviceId: "anna:pixel", userId: "anna" });
  expect(identify(SENDER, NOWHERE, OSMAND, NOWHERE)).toEqual({ deviceId: "osmand-7xYz", userId: null });
});

test("device and user are bound each by itself", () => {
  const claim = { device: "pixel", user: "anna" };
  const ofUser = { ...SENDER, userId: "carl" };
  expect(identify(ofUser, NOWHERE, OWNTRACKS, claim)).toEqual({ deviceId: "anna:pixel", userId: "carl" });
  const ofDevice = { ...SENDER, deviceId: "truck" };
  expect(identify(ofDevice, NOWHERE, OWNTRACKS, claim)).toEqual({ deviceId: "truck", userId: "anna" });
});

test("what an app calls everybody is no name", () => {
  for (const name of ["user", "device", "owntracks", "phone", ""]) {
    expect(identify(SENDER, NOWHERE, OWNTRACKS, { device: name, user: name })).toEqual({
      deviceId: "owntracks-7xYz",
      userId: null,
    });
    expect(identify(SENDER, NOWHERE, OWNTRACKS, { device: "pixel", user: name })?.deviceId).toBe("pixel");
  }
});

test("control characters go, what is long is cut and hashed, and case is kept", () => {
  const idOf = (device: string) => identify(SENDER, { device, user: null }, OSMAND, NOWHERE)?.deviceId;
  expect(idOf("Pi\u0000x\u001bel\u0085 7")).toBe("Pixel 7");
  const long = "ü".repeat(129);
  expect(idOf(long)).toMatch(/^ü{119}~[0-9a-f]{8}$/);
  expect(idOf(long)).not.toBe(idOf(`${long}ü`));
  expect(idOf("ü".repeat(128))).toBe("ü".repeat(128));
});

test("a name of more than 16 KiB is nobody's", () => {
  const claim = (device: string) => ({ device, user: null });
  expect(identify(SENDER, NOWHERE, OSMAND, claim("x".repeat(16 * 1024)))?.deviceId).toMatch(/^x{119}~/);
  expect(identify(SENDER, NOWHERE, OSMAND, claim("x".repeat(16 * 1024 + 1)))).toBeNull();
});

test("what no path can name is no device", () => {
  for (const device of [".", "..", "\u0000", "\ud800"]) {
    expect(identify(SENDER, { device, user: null }, OSMAND, NOWHERE)).toBeNull();
  }
  const user = { device: "car", user: "\u0007" };
  expect(identify(SENDER, user, OSMAND, NOWHERE)).toEqual({ deviceId: "car", userId: null });
});

test("a client that must name its device is nobody's where it does not, unless key or URL do", () => {
  expect(identify(SENDER, NOWHERE, TRACCAR, NOWHERE)).toBeNull();
  expect(identify({ ...SENDER, deviceId: "truck" }, NOWHERE, TRACCAR, NOWHERE)?.deviceId).toBe("truck");
  expect(identify(SENDER, { device: "car", user: null }, TRACCAR, NOWHERE)?.deviceId).toBe("car");
  expect(identify(SENDER, NOWHERE, TRACCAR, { device: "phone", user: null })?.deviceId).toBe("traccar-7xYz");
});

test("a driver is the user where there is no other, and the device keeps its name", () => {
  const claim = { device: "van", user: null, driver: "dora" };
  expect(identify(SENDER, NOWHERE, TRACCAR, claim)).toEqual({ deviceId: "van", userId: "dora" });
  expect(identify(SENDER, NOWHERE, TRACCAR, { ...claim, user: "anna" })).toEqual({
    deviceId: "anna:van",
    userId: "anna",
  });
});
