import { expect, test } from "bun:test";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import { FenceList } from "../../../../src/web/fences/fence-list.ts";
import { DRAWN_MAX, FencesInView } from "../../../../src/web/fences/fences-in-view.ts";
import { turns } from "../../../support/turns.ts";
import { fence, fenceMap, fenceServer, page } from "./fence-server.ts";

function openList() {
  const server = fenceServer();
  const list = new FenceList({ api: server.api, changed: () => undefined, timers: server.time });
  const ids = () => list.items.map(({ id }) => id);
  return { ...server, list, ids };
}

test("the list loads page by page, and has a geofence once even if others were deleted meanwhile", async () => {
  const { list, asked, ids } = openList();
  void list.load();
  asked[0]!.answer(page([fence("a"), fence("b")], 4, true));
  await turns();
  expect([list.total, list.hasMore, ids()]).toEqual([4, true, ["a", "b"]]);
  void list.more();
  expect(asked[1]!.query).toMatchObject({ offset: 2, text: null });
  asked[1]!.answer(page([fence("b"), fence("c")], 3));
  await turns();
  expect([list.total, list.hasMore, ids()]).toEqual([3, false, ["a", "b", "c"]]);
});

test("a search waits for the end of typing, and the last one wins", async () => {
  const { list, asked, ids, time } = openList();
  list.search("d");
  list.search("de ");
  expect(asked).toHaveLength(0);
  await time.pass(1000);
  expect(asked.map(({ query }) => query.text)).toEqual(["de"]);
  list.search("x");
  await time.pass(1000);
  asked[1]!.answer(page([fence("x")], 1));
  asked[0]!.answer(page([fence("de")], 1));
  await turns();
  expect(ids()).toEqual(["x"]);
});

test("what is saved or deleted shows at once; a failure says why and leaves the list", async () => {
  const { list, asked, ids } = openList();
  void list.load();
  asked[0]!.answer(page([fence("a"), fence("b")], 2));
  await turns();
  list.put({ ...fence("b"), properties: { name: "new" } });
  list.put(fence("c"));
  list.remove("a");
  expect([ids(), list.total, list.items[0]!.properties.name]).toEqual([["b", "c"], 2, "new"]);
  void list.load();
  asked[1]!.fail(new ApiError(403, "the key may not", { isOurs: true }));
  await turns();
  expect([list.state, list.fault, ids()]).toEqual(["failed", "The key may not.", ["b", "c"]]);
});

function openView() {
  const server = fenceServer();
  const { map, drawn, move } = fenceMap();
  const view = new FencesInView({ api: server.api, map, changed: () => undefined, timers: server.time });
  return { ...server, view, map, drawn, move };
}

test("the map shows the geofences of the visible box, and loads again once a move has ended", async () => {
  const { view, asked, drawn, move, map, time } = openView();
  view.open();
  expect(asked[0]!.query).toMatchObject({ bbox: "-1,49,1,51", offset: 0 });
  asked[0]!.answer(page([fence("a")], 1));
  await turns();
  expect(drawn.all).toEqual(["a"]);
  map.camera = { ...map.camera, bounds: { west: 179, south: 49, east: 181, north: 51 } };
  move();
  move();
  expect(asked).toHaveLength(1);
  await time.pass(1000);
  expect(asked).toHaveLength(2);
  expect(asked[1]!.query.bbox).toBe("179,49,-179,51");
  expect(drawn.all).toEqual(["a"]);
  asked[1]!.answer(page([fence("b", 180), fence("c", 180)], 2));
  await turns();
  expect([drawn.all, drawn.added]).toEqual([["b", "c"], 3]);
  move();
  await time.pass(1000);
  asked[2]!.answer(page([{ ...fence("b", 180), updated: 2 }, fence("c", 180)], 2));
  await turns();
  expect([drawn.all, drawn.added]).toEqual([["b", "c"], 4]); // What did not change is not drawn again.
  view.close();
  expect(drawn.all).toEqual([]);
});

test("of very many geofences the map shows some, and says how many it does not", async () => {
  const { view, asked, drawn } = openView();
  view.open();
  for (let from = 0; from < DRAWN_MAX; from += 250) {
    expect(asked.at(-1)!.query).toMatchObject({ limit: 250, offset: from });
    const geofences = Array.from({ length: 250 }, (_, index) => fence(`${from + index}`));
    asked.at(-1)!.answer(page(geofences, 10_000, true));
    await turns();
  }
  expect(asked).toHaveLength(DRAWN_MAX / 250);
  expect([drawn.all.length, view.undrawn]).toEqual([DRAWN_MAX, 8000]);
});

test("a geofence that is being edited is not drawn twice", async () => {
  const { view, asked, drawn } = openView();
  view.open();
  asked[0]!.answer(page([fence("a"), fence("b")], 2));
  await turns();
  view.hide("a");
  expect(drawn.all).toEqual(["b"]);
  view.hide(null);
  expect(drawn.all).toEqual(["a", "b"]);
});
