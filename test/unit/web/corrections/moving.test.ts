import { describe, expect, test } from "bun:test";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import { correctionOf, createCorrecting, historyOf } from "./correcting-parts.ts";

const TO = { latitude: 0.01, longitude: 0.02 };

function withSelected(change?: Parameters<typeof createCorrecting>[0]) {
  const parts = createCorrecting(change);
  parts.corrections.use(historyOf());
  parts.corrections.selectAt(20_000);
  return parts;
}

describe("a selected position", () => {
  test("has a handle, and several positions have none", () => {
    const { corrections, map } = withSelected();
    expect(map.move).toMatchObject({ from: { longitude: 0.001 }, to: { longitude: 0.001 }, line: [] });
    expect(map.move?.label).toMatch(/^Position of .*:20.* UTC: drag it/);
    expect(corrections.moving.hasBegun).toBe(false);
    corrections.extendTo(30_000);
    expect([map.move, corrections.moving.move]).toEqual([null, null]);
  });

  test("has none for a user who may not edit", () => {
    expect(withSelected({ isEditor: false }).map.move).toBeNull();
  });
});

describe("moving", () => {
  test("begins with a drag, and shows the old place, the new one and the line through it", () => {
    const { corrections, map, moves } = withSelected();
    map.handle?.drag(TO);
    expect([corrections.moving.hasBegun, moves]).toEqual([true, []]); // The page stands still under the pointer.
    map.handle?.drop();
    expect(moves).toEqual([true]);
    expect(map.move).toMatchObject({ from: { latitude: 0, longitude: 0.001 }, to: TO });
    expect(map.move?.line).toEqual([
      [0, 0],
      [0.02, 0.01],
      [0.002, 0],
    ]);
  });

  test("goes by clicks on the map too, until it ends", () => {
    const { corrections, map } = withSelected();
    expect(map.click).toBeNull(); // It would take the clicks that choose devices.
    corrections.moving.begin();
    expect(map.focused).toBe(1);
    map.clickAt({ latitude: 5, longitude: 5 });
    map.clickAt(TO);
    expect([map.move?.to, map.focused]).toEqual([TO, 3]);
    corrections.clear();
    expect([map.click, map.move?.to]).toEqual([null, { latitude: 0, longitude: 0.001 }]);
  });

  test("by arrow keys follows the zoom, and keeps the handle in sight; other keys are left alone", () => {
    const { map } = withSelected();
    const longitude = () => map.move!.to.longitude;
    expect([map.press("ArrowRight"), map.press("x"), map.press("Tab")]).toEqual([true, false, false]);
    const step = longitude() - 0.001;
    expect(step).toBeCloseTo((2 * 360) / (512 * 2 ** 10), 6);
    map.press("ArrowRight", true);
    expect(longitude() - 0.001).toBeCloseTo(11 * step, 6);
    expect(map.flights).toEqual([]);
    map.camera = { zoom: 10, bounds: { west: 10, south: 10, east: 11, north: 11 } };
    map.press("ArrowUp");
    expect(map.flights).toEqual([map.move!.to]);
  });

  test("is cancelled by Esc, which leaves the selection, and reset by undo, before anything is undone", () => {
    const { server, corrections, map, moves } = withSelected();
    map.drag(TO);
    expect([corrections.undoLast(), map.move?.to.longitude, corrections.moving.hasBegun]).toEqual([
      ...[true, 0.001, true],
    ]);
    expect(corrections.clear()).toBe(true);
    expect([corrections.moving.hasBegun, corrections.selection !== null, moves]).toEqual([
      ...[false, true, [true, false]],
    ]);
    expect(corrections.undoLast()).toBe(false);
    expect(server.posts).toEqual([]);
  });

  test("goes on over a reload of the day, and ends with another selection", () => {
    const { corrections, map, moves } = withSelected();
    map.drag(TO);
    corrections.use(historyOf({ seconds: [10, 20, 40] }));
    expect([corrections.moving.hasBegun, map.move?.to]).toEqual([true, TO]);
    corrections.selectAt(40_000);
    expect([corrections.moving.hasBegun, map.move?.to.longitude, moves]).toEqual([
      ...[false, 0.002, [true, false]],
    ]);
  });

  test("of the last position leads on to a new one, and what is marked is not drawn again for that", () => {
    const { corrections, map } = createCorrecting();
    const history = historyOf();
    corrections.use(history);
    corrections.selectAt(40_000);
    map.drag(TO);
    expect(map.move?.line).toHaveLength(2);
    const { marks } = map;
    history.track.append(50_000, 0, 0.004);
    corrections.use(history);
    expect(map.move?.line.at(-1)).toEqual([0.004, 0]);
    expect(map.marks).toBe(marks);
  });
});

describe("Enter", () => {
  test("begins, and sends only what has been moved", async () => {
    const { server, corrections, map, moves, reloads } = withSelected();
    expect([map.press("Enter"), map.press("Enter")]).toEqual([true, true]);
    expect([corrections.moving.hasBegun, server.posts]).toEqual([true, []]);
    map.drag({ latitude: 0.123_456_789, longitude: 180.5 });
    corrections.moving.note = "tunnel";
    map.press("Enter");
    map.press("Enter");
    map.drag(TO); // Too late.
    expect(server.posts).toMatchObject([
      {
        ...{ method: "POST", path: "/api/v1/corrections", key: expect.stringMatching(/^[0-9a-f]{32}$/) },
        body: {
          ...{ action: "move", device_id: "bus", timestamps: [20_000], note: "tunnel" },
          ...{ latitude: 0.1234568, longitude: -179.5 },
        },
      },
    ]);
    const correction = correctionOf("m1", { action: "move", records: 1, first: 20_000, last: 20_000 });
    await server.posts[0]!.answer({ correction });
    expect([corrections.selection, map.move, moves, reloads()]).toEqual([null, null, [true, false], 1]);
    expect(corrections.notice).toEqual({ id: "m1", text: "1 position is moved." });
    corrections.undoLast();
    expect(server.posts[1]).toMatchObject({ method: "DELETE", path: "/api/v1/corrections/m1" });
  });

  test("of a move that fails leaves the position there and says why; the same is sent as the same request", async () => {
    const { server, corrections, map } = withSelected();
    map.drag(TO);
    map.press("Enter");
    await server.posts[0]!.fail(new ApiError(0, "The server can't be reached."));
    expect([corrections.moving.fault, map.move?.to]).toEqual(["The server can't be reached.", TO]);
    map.press("Enter");
    expect(server.posts[1]!.key).toBe(server.posts[0]!.key!);
    await server.posts[1]!.fail(new ApiError(0, "The server can't be reached."));
    map.drag({ latitude: 1, longitude: 1 });
    map.press("Enter");
    expect(server.posts[2]!.key).not.toBe(server.posts[0]!.key!);
  });

  test("sends a move once, also while one of another position is on its way", async () => {
    const { server, corrections, map } = withSelected();
    map.drag(TO);
    map.press("Enter");
    corrections.selectAt(40_000);
    map.drag(TO);
    map.press("Enter");
    await server.posts[0]!.fail(new ApiError(0, "The server can't be reached."));
    expect([corrections.moving.isSending, corrections.moving.fault]).toEqual([true, null]);
    map.press("Enter");
    expect(server.posts).toHaveLength(2);
  });
});
