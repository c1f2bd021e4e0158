import { expect, test } from "bun:test";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import { FenceEditor } from "../../../../src/web/fences/fence-editor.ts";
import { eventsOf, FencePreview, previewRange, spanOf } from "../../../../src/web/fences/fence-preview.ts";
import { turns } from "../../../support/turns.ts";
import { fence, fenceMap, fenceServer } from "./fence-server.ts";

function openEditor() {
  const server = fenceServer();
  const { map, drawn } = fenceMap();
  const done: unknown[] = [];
  const editor = new FenceEditor({
    ...{ api: server.api, map, accent: () => "#000000", changed: () => undefined },
    onSaved: ({ id }) => done.push(["saved", id]),
    onDeleted: (id) => done.push(["deleted", id]),
  });
  return { ...server, editor, drawn, done };
}

test("a circle at the map's center is stored without a pointer; a fault stands until its member is changed", async () => {
  const { editor, asked, drawn, done } = openEditor();
  editor.begin("circle");
  expect([editor.mode, editor.body, drawn.isIgnoring]).toEqual(["circle", null, true]);
  editor.circleAtCenter(100);
  expect(editor.mode).toBeNull();
  editor.set({ numbers: { ...editor.draft!.numbers, radius_meters: "5" } }, "radius_meters");
  void editor.form.save();
  expect(asked.map(({ path, init }) => [init.method, path])).toEqual([["POST", "/api/v1/geofences"]]);
  expect(JSON.parse(String(asked[0]!.init.body))).toMatchObject({
    geometry: { type: "Point", coordinates: [0, 50] },
    properties: { radius_meters: 5 },
  });
  const refusal = "properties.radius_meters must be a number, 10 to 100,000";
  asked[0]!.fail(new ApiError(400, refusal, { isOurs: true }));
  await turns();
  expect([editor.form.fault?.member, editor.form.isSaving]).toEqual(["radius_meters", false]);
  editor.set({ name: "Depot" }, "name");
  expect(editor.form.fault?.member).toBe("radius_meters");
  editor.set({ numbers: { ...editor.draft!.numbers, radius_meters: "50" } }, "radius_meters");
  expect(editor.form.fault).toBeNull();
  void editor.form.save();
  asked[1]!.answer({ geofence: fence("new") });
  await turns();
  expect([done, editor.draft, drawn.isIgnoring, drawn.chosen]).toEqual([
    [["saved", "new"]],
    null,
    false,
    null,
  ]);
});

test("undo() gives back the shape before, and then there is nothing to undo", () => {
  const { editor } = openEditor();
  editor.edit(fence("a"));
  editor.circleAtCenter(500);
  expect(editor.body!.geometry).toEqual({ type: "Point", coordinates: [0, 50] });
  expect(editor.body!.properties.radius_meters).toBe(500);
  expect(editor.undo()).toBeTrue();
  expect(editor.draft!.geometry).toEqual(fence("a").geometry);
  expect(editor.body!.properties.radius_meters).toBe(100);
  expect(editor.undo()).toBeFalse();
});

test("a geofence is replaced and deleted by its id; an answer after the draft was closed still counts", async () => {
  const { editor, asked, done } = openEditor();
  editor.edit(fence("a/b"));
  void editor.form.save();
  expect([asked[0]!.init.method, asked[0]!.path]).toEqual(["PUT", "/api/v1/geofences/a%2Fb"]);
  editor.close();
  editor.edit(fence("other"));
  asked[0]!.answer({ geofence: fence("a/b") });
  await turns();
  expect([done, editor.draft!.id]).toEqual([[["saved", "a/b"]], "other"]);
  editor.form.askToDelete(true);
  void editor.form.delete();
  expect([asked[1]!.init.method, asked[1]!.path]).toEqual(["DELETE", "/api/v1/geofences/other"]);
  asked[1]!.answer({});
  await turns();
  expect([done[1], editor.draft]).toEqual([["deleted", "other"], null]);
});

const NOW_MS = Date.UTC(2026, 2, 30, 10);

function openPreview() {
  const server = fenceServer();
  const { map, drawn } = fenceMap();
  const preview = new FencePreview({
    ...{
      api: server.api,
      map,
      path: "/api/v1/geofences",
      zones: { zone: "Europe/Berlin" },
      changed: () => undefined,
    },
    ...{ nowMs: () => NOW_MS + server.time.nowMs(), timers: server.time },
  });
  return { ...server, preview, drawn };
}

const EVENT = { kind: "exit", timestamp: NOW_MS, device_id: "a/b", visit_id: "1" } as const;

test("yesterday is a day of the zone, which may have 23 hours", () => {
  const { startMs, endMs } = previewRange("yesterday", "Europe/Berlin", NOW_MS);
  expect([startMs, endMs]).toEqual([Date.UTC(2026, 2, 28, 23), Date.UTC(2026, 2, 29, 22)]);
  expect(previewRange("today", "Europe/Berlin", NOW_MS)).toEqual({ startMs: endMs, endMs: NOW_MS });
  const spans = [NOW_MS - 1, endMs, endMs - 1, startMs, startMs - 1].map((ms) =>
    spanOf(ms, "Europe/Berlin", NOW_MS),
  );
  expect(spans).toEqual(["today", "today", "yesterday", "yesterday", "week"]);
  expect(previewRange("week", "UTC", NOW_MS)).toEqual({ startMs: NOW_MS - 7 * 86_400_000, endMs: NOW_MS });
});

test("a preview can be canceled while it runs, and its answer is then ignored", async () => {
  const { preview, asked, time } = openPreview();
  void preview.run(fence("a"));
  await time.pass(2500);
  expect([preview.state, preview.elapsedMs]).toEqual(["running", 2500]);
  expect(preview.cancel()).toBeTrue();
  expect(asked[0]!.init.signal!.aborted).toBeTrue();
  await turns();
  expect([preview.state, preview.events, preview.cancel()]).toEqual(["idle", [], false]);
});

test("an event is shown where the device was last at its time", async () => {
  const { preview, asked, drawn } = openPreview();
  void preview.run(fence("a"));
  const pagination = { total_count: 7, has_more: true };
  asked[0]!.answer({ events: [EVENT], pagination });
  await turns();
  expect([preview.state, preview.total, preview.events]).toEqual(["done", 7, [EVENT]]);
  void preview.show(preview.events[0]!);
  expect([asked[1]!.path, asked[1]!.query.end]).toEqual(["/api/v1/devices/a%2Fb/track", NOW_MS + 1]);
  asked[1]!.answer({ timestamp: [1, 2], latitude: [5, 6], longitude: [7, 8], gaps: [], total: 2 });
  await turns();
  expect(drawn.flights).toMatchObject([{ latitude: 6, longitude: 8 }]);
  expect(drawn.events).toEqual([{ latitude: 6, longitude: 8, kind: "exit" }]);
  preview.cancel();
  expect(drawn.events).toEqual([]);
});

test("eventsOf() reads the events of an answer that has only begun", () => {
  const text = JSON.stringify({
    success: true,
    events: [EVENT, { ...EVENT, device_id: "a}" }],
    pagination: {},
  });
  const second = text.indexOf('"a}') + 3;
  expect(eventsOf(text.slice(0, text.indexOf("},{") + 1))).toEqual([EVENT]);
  expect(eventsOf(text.slice(0, text.indexOf("},{") + 20))).toEqual([EVENT]);
  expect(eventsOf(text.slice(0, second))).toBeNull();
  expect(eventsOf('{"success":true,"events":[')).toBeNull();
});

test("a preview that is refused says why", async () => {
  const { preview, asked } = openPreview();
  void preview.run(fence("a"));
  asked[0]!.fail(new ApiError(400, "the range is too long", { isOurs: true }));
  await turns();
  expect([preview.state, preview.fault]).toEqual(["failed", "The range is too long."]);
});
