import { describe, expect, test } from "bun:test";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import { SPANS } from "../../../../src/web/time/local-day.ts";
import { trackOf } from "../history/tracks.ts";
import { correctionOf, createCorrecting, historyOf } from "./correcting-parts.ts";

const WEEK = SPANS[1]!;

describe("a selection", () => {
  test("is a position or a range, is marked, and is dropped by Esc", () => {
    const { corrections, map } = createCorrecting();
    corrections.use(historyOf());
    corrections.selectAt(21_000);
    expect([corrections.selectedRange, map.marked("selected")]).toEqual([
      { startMs: 20_000, endMs: 20_000 },
      [0.001],
    ]);
    corrections.extendTo(39_000);
    expect(map.marked("selected")).toEqual([0.001, 0.002, 0.003]);
    corrections.selectWithin({ startMs: 0, endMs: 25_000 });
    expect(corrections.selection?.timestampMs).toEqual([10_000, 20_000]);
    expect([corrections.clear(), corrections.clear()]).toEqual([true, false]);
    expect(map.marked("selected")).toEqual([]);
  });

  test("stays over a reload of the day as far as its positions are there, and not on another day", () => {
    const { corrections } = createCorrecting();
    corrections.use(historyOf());
    corrections.selectWithin({ startMs: 20_000, endMs: 30_000 });
    corrections.use(historyOf({ seconds: [10, 30, 40] }));
    expect(corrections.selection?.timestampMs).toEqual([30_000]);
    corrections.use({ ...historyOf(), range: { startMs: 0, endMs: 2e6 } });
    expect(corrections.selection).toBeNull();
  });

  test("of a suspicious position that a simplified track lacks is that very position", () => {
    const { corrections, map } = createCorrecting();
    const track = trackOf([10, 40], { toleranceMeters: 50 });
    corrections.use(historyOf({ span: WEEK, track }));
    corrections.lookAt(23_000, { latitude: 7, longitude: 8 });
    expect(corrections.selection?.timestampMs).toEqual([23_000]);
    expect([map.marked("selected"), map.flights]).toEqual([[8], [{ latitude: 7, longitude: 8 }]]);
    corrections.use(historyOf({ span: WEEK, track: trackOf([10, 50], { toleranceMeters: 50 }) }));
    expect(corrections.selection?.timestampMs).toEqual([23_000]);
  });
});

describe("hiding", () => {
  test("sends what the user has confirmed with the note, and nothing before", async () => {
    const { server, corrections, map, reloads } = createCorrecting();
    const { confirming } = corrections;
    corrections.use(historyOf());
    await server.answerOutliers(20, 40);
    await server.answerList();
    corrections.askToHideSuspects();
    expect(confirming.confirmation).toMatchObject({ records: 2 });
    confirming.cancel();
    await confirming.send();
    expect(server.posts).toEqual([]);
    corrections.selectWithin({ startMs: 20_000, endMs: 30_000 });
    corrections.askToHide();
    confirming.note = " tunnel ";
    void confirming.send();
    void confirming.send(); // A second click does nothing.
    expect(server.posts).toMatchObject([
      {
        ...{ method: "POST", path: "/api/v1/corrections", key: expect.stringMatching(/^[0-9a-f]{32}$/) },
        body: { action: "hide", device_id: "bus", timestamps: [20_000, 30_000], note: "tunnel" },
      },
    ]);
    await server.posts[0]!.answer({ correction: correctionOf("c1") });
    expect([confirming.confirmation, corrections.selection, reloads()]).toEqual([null, null, 1]);
    expect(corrections.notice).toEqual({ text: "2 positions are hidden.", id: "c1" });
    expect(corrections.active.all.map(({ id }) => id)).toEqual(["c1"]);
    expect(map.marked("suspect")).toEqual([40]);
  });

  test("that fails says why, and is sent again as the same request unless the note has changed", async () => {
    const { server, corrections, reloads } = createCorrecting();
    const { confirming } = corrections;
    corrections.use(historyOf());
    corrections.selectAt(20_000);
    corrections.askToHide();
    void confirming.send();
    await server.posts[0]!.fail(new ApiError(0, "The server can't be reached."));
    expect(confirming.confirmation).toMatchObject({
      isSending: false,
      fault: "The server can't be reached.",
    });
    expect([corrections.selection !== null, reloads()]).toEqual([true, 0]);
    void confirming.send();
    expect(server.posts[1]!.key).toBe(server.posts[0]!.key!);
    await server.posts[1]!.fail(new ApiError(0, "The server can't be reached."));
    confirming.note = "tunnel";
    void confirming.send();
    expect(server.posts[2]!.key).not.toBe(server.posts[0]!.key!);
  });

  test("of the same positions again, after an undo, is another request", async () => {
    const { server, corrections } = createCorrecting();
    corrections.use(historyOf());
    for (const index of [0, 1]) {
      corrections.selectAt(20_000);
      corrections.askToHide();
      void corrections.confirming.send();
      await server.posts[index]!.answer({ correction: correctionOf(`c${index}`) });
    }
    expect(server.posts[1]!.body).toEqual(server.posts[0]!.body);
    expect(server.posts[1]!.key).not.toBe(server.posts[0]!.key!);
  });

  test("a range of a simplified track waits until the server has counted its positions", async () => {
    const { server, corrections } = createCorrecting();
    const { confirming } = corrections;
    corrections.use(historyOf({ span: WEEK, track: trackOf([10, 40], { toleranceMeters: 50 }) }));
    corrections.selectWithin({ startMs: 15_000, endMs: 60_000 });
    corrections.askToHide();
    await confirming.send();
    const records = { action: "hide", device_id: "bus", start: 15_000, end: 40_001 };
    expect(server.posts).toMatchObject([{ path: "/api/v1/corrections?dry_run=true", body: records }]);
    await server.posts[0]!.answer({ correction: { records: 1234 } });
    expect(confirming.confirmation?.records).toBe(1234);
    void confirming.send();
    expect(server.posts[1]).toMatchObject({ path: "/api/v1/corrections", body: records });
  });

  test("more than the server takes is refused before the user confirms", async () => {
    const { server, corrections } = createCorrecting();
    const { confirming } = corrections;
    corrections.use(historyOf({ span: WEEK, track: trackOf([10, 40], { toleranceMeters: 50 }) }));
    corrections.selectWithin({ startMs: 0, endMs: 60_000 });
    corrections.askToHide();
    await server.posts[0]!.fail(new ApiError(400, "select fewer", { isOurs: true }));
    expect(confirming.confirmation).toMatchObject({ records: null, fault: "Select fewer." });
    await confirming.send();
    expect(server.posts).toHaveLength(1);
  });

  test("is not offered to a user who may not edit", async () => {
    const { server, corrections } = createCorrecting({ isEditor: false });
    corrections.use(historyOf());
    await server.answerOutliers(20);
    corrections.askToHideSuspects();
    expect([corrections.suspects.found.total, corrections.confirming.confirmation]).toEqual([1, null]);
  });
});

describe("more changes", () => {
  test("begin with the clock, wait until they are complete, and are sent with the selection", async () => {
    const { server, corrections } = createCorrecting();
    const { confirming } = corrections;
    corrections.use(historyOf());
    corrections.selectWithin({ startMs: 20_000, endMs: 30_000 });
    corrections.askForMore();
    expect(confirming.confirmation).toMatchObject({ records: 2, change: { action: "shift_time" } });
    confirming.set({ action: "shift_time", text: "", isLater: true });
    await confirming.send();
    expect(server.posts).toEqual([]);
    confirming.set({ action: "shift_time", text: "0:30", isLater: false });
    void confirming.send();
    const records = { device_id: "bus", timestamps: [20_000, 30_000] };
    expect(server.posts[0]!.body).toEqual({ action: "shift_time", by_ms: -1_800_000, ...records });
    await server.posts[0]!.fail(new ApiError(409, "the device has a record at that time", { isOurs: true }));
    expect(confirming.confirmation?.fault).toBe("The device has a record at that time.");
    expect(corrections.suggestDevices("b")).toEqual(["bus 2"]); // Not the device itself.
    confirming.set({ action: "assign", search: "tram", toDeviceId: "tram" });
    expect(confirming.confirmation?.fault).toBeNull();
    void confirming.send();
    expect(server.posts[1]!.body).toEqual({ action: "assign", to_device_id: "tram", ...records });
    await server.posts[1]!.answer({
      correction: correctionOf("a1", { action: "assign", to_device_id: "tram" }),
    });
    expect(corrections.notice).toEqual({ text: "2 positions are given to tram.", id: "a1" });
    expect([confirming.confirmation, corrections.selection]).toEqual([null, null]);
  });

  test("may change while the positions are counted", async () => {
    const { server, corrections } = createCorrecting();
    const { confirming } = corrections;
    corrections.use(historyOf({ span: WEEK, track: trackOf([10, 40], { toleranceMeters: 50 }) }));
    corrections.selectWithin({ startMs: 0, endMs: 60_000 });
    corrections.askForMore();
    confirming.set({ action: "assign", search: "tram", toDeviceId: "tram" });
    await server.posts[0]!.answer({ correction: { records: 1234 } });
    expect(confirming.confirmation).toMatchObject({ records: 1234, change: { toDeviceId: "tram" } });
  });
});
