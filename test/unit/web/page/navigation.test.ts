import { describe, expect, test } from "bun:test";
import type { AddressPlace } from "../../../../src/web/page/address.ts";
import { Navigation } from "../../../../src/web/page/navigation.ts";
import { DAY, type LocalDay, SPANS, type Span } from "../../../../src/web/time/local-day.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";

/** A browser's address bar with its list of steps, and parts that keep what they are told. */
function createBrowser(search: string) {
  const steps = [search];
  let at = 0;
  let pop = () => {};
  const bar = {
    location: {
      pathname: "/map",
      get search() {
        return steps[at]!;
      },
    },
    history: {
      pushState(_: unknown, __: string, url: string) {
        steps.splice(++at, Infinity, url.slice("/map".length));
      },
      replaceState(_: unknown, __: string, url: string) {
        steps[at] = url.slice("/map".length);
      },
    },
    addEventListener(_: "popstate", listener: () => void) {
      pop = listener;
    },
  };
  let tellCamera = (_place: AddressPlace, _isChosen: boolean) => {};
  const chosen = {
    id: null as string | null,
    requestedDay: null as LocalDay | null,
    span: DAY as Span,
    spans: SPANS,
    choose(id: string | null) {
      chosen.id = id;
    },
    look(day: LocalDay | null, span: Span) {
      chosen.requestedDay = day;
      chosen.span = span;
    },
  };
  const zones = {
    zone: "UTC",
    get isChosen() {
      return zones.zone !== "UTC";
    },
    set(zone: string | null) {
      zones.zone = zone ?? "UTC";
    },
  };
  const map = {
    flyTo: (place: AddressPlace) => tellCamera(place, true),
    onCamera(listener: (camera: AddressPlace, isChosen: boolean) => void) {
      tellCamera = listener;
      return () => {};
    },
  };
  const time = new VirtualTime();
  const navigation = new Navigation({ chosen, zones, map }, bar, time);
  const go = (by: number) => {
    at += by;
    pop();
  };
  const move = (place: AddressPlace, isChosen = true) => tellCamera(place, isChosen);
  const look = async (place: AddressPlace, isChosen = true) => {
    move(place, isChosen);
    await time.pass(300);
  };
  return { navigation, chosen, zones, steps, go, move, look, time };
}

const BOSTON = { latitude: 42.36, longitude: -71.06, zoom: 12 };
const HERE = "at=42.36000,-71.06000,12.00";

describe("the address", () => {
  test("says at the start what is looked at", () => {
    const { navigation, chosen, zones, steps } = createBrowser(
      `?device=bus&day=2026-11-21&span=week&zone=Asia/Tokyo&${HERE}`,
    );
    const before = [...steps];
    navigation.begin();
    navigation.write();
    expect([chosen.id, chosen.requestedDay, chosen.span.name, zones.zone]).toEqual([
      "bus",
      "2026-11-21" as LocalDay,
      "week",
      "Asia/Tokyo",
    ]);
    expect(steps).toEqual(before);
  });

  test("gets a step for another device and another day, and none for another place or zone", async () => {
    const { navigation, chosen, zones, steps, look } = createBrowser("");
    navigation.begin();
    await look(BOSTON);
    expect(steps).toEqual([`?${HERE}`]);
    chosen.choose("bus");
    navigation.write();
    zones.set("Asia/Tokyo");
    navigation.write();
    chosen.look("2026-11-21" as LocalDay, SPANS[1]!);
    navigation.write();
    navigation.write();
    expect(steps).toEqual([
      `?${HERE}`,
      `?device=bus&zone=Asia/Tokyo&${HERE}`,
      `?device=bus&day=2026-11-21&span=week&zone=Asia/Tokyo&${HERE}`,
    ]);
  });

  test("says no place that nobody chose", async () => {
    const { navigation, steps, look } = createBrowser("");
    navigation.begin();
    await look(BOSTON, false);
    navigation.write();
    expect(steps).toEqual([""]);
  });

  test("gets a place once the map has come to rest", async () => {
    const { navigation, steps, move, time } = createBrowser("");
    navigation.begin();
    move({ ...BOSTON, zoom: 11 });
    await time.pass(200);
    move(BOSTON);
    await time.pass(299);
    navigation.write();
    expect(steps).toEqual([""]);
    await time.pass(1);
    expect(steps).toEqual([`?${HERE}`]);
  });

  test("is followed back and forward, without a step more", async () => {
    const { navigation, chosen, steps, go, look } = createBrowser("");
    navigation.begin();
    await look(BOSTON);
    chosen.choose("bus");
    navigation.write();
    await look({ ...BOSTON, zoom: 15 });
    go(-1);
    expect(chosen.id).toBeNull();
    go(1);
    expect(chosen.id).toBe("bus");
    expect(steps).toEqual([`?${HERE}`, "?device=bus&at=42.36000,-71.06000,15.00"]);
  });

  test("waits while nobody is signed in", async () => {
    const { navigation, chosen, steps, look } = createBrowser("?device=bus");
    await look(BOSTON);
    navigation.write();
    navigation.begin();
    navigation.end();
    chosen.choose(null);
    navigation.write();
    expect(steps).toEqual(["?device=bus"]);
  });
});
