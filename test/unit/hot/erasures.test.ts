import { expect, test } from "bun:test";
import { Erasures } from "../../../src/hot/erasures.ts";
import { isErased, masksDay } from "../../../src/model/erasure.ts";
import type { AppId, UserId } from "../../../src/model/ids.ts";

test("what continues an erasure destroys nothing, though its entry is a later one", () => {
  const erasures = new Erasures();
  const range = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
  const subject = { appId: "app" as AppId, deviceIds: [], userId: "anna" as UserId, range };
  const made = { ...subject, id: "e", block: false, createdMs: 1, createdBy: "key" };
  erasures.add({ ...made, continues: false }, 5);
  erasures.add({ ...made, continues: true }, 7);
  const destroys = erasures
    .pending()
    .map((erasure) => [
      isErased(erasure, "van", "anna", 1000),
      masksDay(erasure, { startMs: 0, endMs: 2000 }, 0),
    ]);
  expect(destroys).toEqual([
    [true, true],
    [false, false],
  ]);
});
