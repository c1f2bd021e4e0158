import { describe, expect, test } from "bun:test";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import { turns } from "../../../support/turns.ts";
import { correctionOf, createCorrecting, historyOf } from "./correcting-parts.ts";

const LATER = "01KDTV3GZ8Q3M5T7V9X1Z3B5D7";
const ELSEWHERE = "01KDTV3GZ8Q3M5T7V9X1Z3B5D8";

async function withHidden() {
  const parts = createCorrecting();
  const { server, corrections } = parts;
  corrections.use(historyOf());
  await server.answerList("old");
  corrections.selectAt(20_000);
  corrections.askToHide();
  void corrections.confirming.send();
  await server.posts[0]!.answer({ correction: correctionOf("c1", { records: 1 }) });
  return parts;
}

describe("undo", () => {
  test("takes back what this page has hidden last, once, and nothing older", async () => {
    const { server, corrections, reloads } = await withHidden();
    corrections.selectAt(30_000);
    expect(corrections.undoLast()).toBe(true);
    corrections.undoLast();
    expect(server.posts.slice(1)).toMatchObject([{ method: "DELETE", path: "/api/v1/corrections/c1" }]);
    expect(corrections.active.isUndoing("c1")).toBe(true);
    await server.posts[1]!.answer({});
    expect(corrections.notice).toEqual({ text: "1 position is shown again.", id: null });
    expect([corrections.active.all.map(({ id }) => id), reloads(), corrections.selection]).toEqual([
      ...[["old"], 2, null],
    ]);
    expect([corrections.undoLast(), corrections.active.isUndoing("c1")]).toEqual([false, false]);
  });

  test("of another device is not meant by the key", async () => {
    const { server, corrections } = await withHidden();
    corrections.use(historyOf({ deviceId: "tram" }));
    expect(corrections.undoLast()).toBe(false);
    expect(server.posts).toHaveLength(1);
    corrections.use(historyOf());
    expect(corrections.undoLast()).toBe(true);
  });

  test("that is refused says why, and leaves the correction in the list", async () => {
    const { server, corrections, reloads } = await withHidden();
    void corrections.active.undo(corrections.active.all[1]!);
    await server.posts[1]!.fail(new ApiError(409, "undo that first", { isOurs: true }));
    const { fault, blocked, all } = corrections.active;
    expect([fault, blocked, all.length, reloads()]).toEqual(["Undo that first.", null, 2, 1]);
  });

  test("of what another user has undone drops it from the list", async () => {
    const { server, corrections } = await withHidden();
    void corrections.active.undo(corrections.active.all[1]!);
    await server.posts[1]!.fail(new ApiError(404, "no such correction", { isOurs: true }));
    expect(corrections.active.all.map(({ id }) => id)).toEqual(["c1"]);
  });

  test("that later corrections prevent shows these, also of another device, until they are undone", async () => {
    const { server, corrections } = createCorrecting();
    const { active } = corrections;
    corrections.use(historyOf());
    await server.answerList(LATER, "old");
    void active.undo(active.all[1]!);
    const message = `undo ${LATER} and ${ELSEWHERE} first`;
    await server.posts[0]!.fail(new ApiError(409, message, { isOurs: true }));
    server.last(`/${ELSEWHERE}`).answer({ correction: correctionOf(ELSEWHERE, { device_id: "tram" }) });
    await turns();
    expect([active.fault, active.blocked?.correction.id]).toEqual([null, "old"]);
    expect(active.blocked?.by.map(({ id, device_id }) => [id, device_id])).toEqual([
      [LATER, "bus"],
      [ELSEWHERE, "tram"],
    ]);
    void active.undo(active.blocked!.by[0]!);
    await server.posts[1]!.answer({});
    expect(active.blocked?.by.map(({ id }) => id)).toEqual([ELSEWHERE]);
    void active.undo(active.blocked!.by[0]!);
    await server.posts[2]!.answer({});
    expect([active.blocked, active.all.map(({ id }) => id)]).toEqual([null, ["old"]]);
  });

  test("says what is as it was", async () => {
    const { server, corrections } = createCorrecting();
    corrections.use(historyOf());
    await server.answerList("old");
    void corrections.active.undo(correctionOf("m", { action: "move", records: 1 }));
    await server.posts[0]!.answer({});
    expect(corrections.notice?.text).toBe("The position is back where it was reported.");
  });
});

describe("corrections of others", () => {
  test("make an open day load again, once each", async () => {
    const { server, corrections, reloads } = createCorrecting();
    corrections.use(historyOf());
    expect(server.last("/corrections").query).toEqual({ device_id: "bus", state: "active", limit: 50 });
    await server.answerList("a");
    const nowMs = Date.now();
    corrections.active.refresh(nowMs + 1000);
    expect(server.open("/corrections")).toHaveLength(1);
    corrections.active.refresh(nowMs + 20_000);
    await server.answerList("b", "a");
    expect([reloads(), corrections.active.all.length]).toEqual([1, 2]);
    corrections.active.refresh(nowMs + 40_000);
    await server.answerList("a", "b");
    expect(reloads()).toBe(1);
    corrections.active.refresh(nowMs + 60_000);
    await server.answerList("a");
    expect(reloads()).toBe(2);
  });

  test("that were listed before an own one was made don't take it from the list", async () => {
    const { server, corrections } = createCorrecting();
    corrections.use(historyOf());
    const list = server.last("/corrections");
    corrections.selectAt(20_000);
    corrections.askToHide();
    void corrections.confirming.send();
    await server.posts[0]!.answer({ correction: correctionOf("c1", { records: 1 }) });
    list.answer({ corrections: [] });
    await turns();
    expect(corrections.active.all.map(({ id }) => id)).toEqual(["c1"]);
  });

  test("are not asked for by a user who may not edit", () => {
    const { server, corrections } = createCorrecting({ isEditor: false });
    corrections.use(historyOf());
    corrections.active.refresh(Date.now() + 60_000);
    expect(server.open("/corrections")).toEqual([]);
  });
});
