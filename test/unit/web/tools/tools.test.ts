import { afterAll, beforeAll, expect, test } from "bun:test";
import { Api } from "../../../../src/web/api/api.ts";
import { DeviceTable } from "../../../../src/web/devices/device-table.ts";
import { LiveEvents } from "../../../../src/web/devices/live-events.ts";
import { Keyboard } from "../../../../src/web/shell/keyboard.ts";
import { Tools } from "../../../../src/web/tools/tools.ts";

/** Where links lead that are made on the page. */
beforeAll(() => {
  Object.assign(globalThis, { location: { origin: "http://127.0.0.1", hostname: "127.0.0.1" } });
});
afterAll(() => {
  Reflect.deleteProperty(globalThis, "location");
});

const CAMERA = {
  latitude: 1,
  longitude: 2,
  zoom: 3,
  bounds: { west: 0, south: 0, east: 4, north: 2 },
};

/** Tools over a map that remembers its circle and its cells, and a server that never answers. */
function setUp(mayRead = true) {
  const drawn = { circles: 0, rows: [] as readonly number[], hasCells: false };
  const table = new DeviceTable();
  const api = new Api();
  api.fetch = () => new Promise(() => undefined);
  const tools = new Tools({
    api,
    table,
    liveEvents: new LiveEvents(api),
    map: {
      camera: CAMERA,
      baseMap: null,
      pause: () => undefined,
      takeNextClick: () => undefined,
      setCircle: (circle) => {
        drawn.circles += circle === null ? 0 : 1;
      },
      onCamera: () => () => undefined,
      setDensity: (cells) => {
        drawn.hasCells = cells !== null;
      },
      ...{ fit: () => undefined, flyTo: () => undefined, ignoreClicks: () => undefined },
      onPick: () => () => undefined,
      fences: {
        ...{ change: () => undefined, setChosen: () => undefined, setEvents: () => undefined },
        ...{ withMap: () => undefined, idAt: () => null },
      },
    },
    chosen: { id: null, choose: () => undefined },
    zones: { zone: "UTC" },
    sheet: { lower: () => undefined },
    settings: { units: "metric" },
    mayRead: () => mayRead,
    mayManage: () => false,
    changed: () => undefined,
  });
  const keyboard = new Keyboard();
  tools.setKeys(keyboard);
  const press = (key: string) =>
    keyboard.press({
      key,
      ctrlKey: false,
      metaKey: false,
      altKey: false,
      shiftKey: false,
      defaultPrevented: false,
      target: null,
    });
  return { tools, table, press, drawn };
}

test("N asks devices near the map's center; Esc closes one tool at a time", () => {
  const { tools, press } = setUp();
  tools.density.open();
  press("n");
  expect(tools.nearby.center).toEqual({ latitude: 1, longitude: 2 });
  press("Escape");
  expect([tools.nearby.isOpen, tools.density.isOpen]).toEqual([false, true]);
  press("Escape");
  expect(tools.density.isOpen).toBeFalse();
  expect(press("Escape")).toBeFalse();
});

test("N asks nothing for who came by a share link", () => {
  const { tools, press } = setUp(false);
  press("n");
  expect(tools.nearby.isOpen).toBeFalse();
});

test("? opens the help", () => {
  const { tools, press } = setUp();
  press("?");
  expect(tools.help.isOpen).toBeTrue();
});

test("the circle is drawn anew where all rows are other devices'", () => {
  const { tools, table, drawn } = setUp();
  tools.nearby.aroundMiddle();
  const before = drawn.circles;
  table.clear();
  expect(drawn.circles).toBe(before + 1);
});

test("a session's end closes all", () => {
  const { tools } = setUp();
  tools.nearby.aroundMiddle();
  tools.density.open();
  tools.close();
  expect([tools.nearby.isOpen, tools.density.isOpen]).toEqual([false, false]);
});

test("what is still loading when the session ends begins for nobody", async () => {
  const { tools } = setUp();
  let begun = 0;
  const loading = tools.making.use(() => begun++);
  tools.close();
  await loading;
  expect([begun, tools.making.loaded]).toEqual([0, null]);
  await tools.making.use(() => begun++);
  expect([begun, tools.making.loaded === null]).toEqual([1, false]);
});
