import { jscDescribe } from "bun:jsc";
import { expect, test } from "bun:test";
import { createHotStore } from "../../../../src/hot/hot-store.ts";
import { Dictionary } from "../../../../src/hot/records/dictionary.ts";
import { EncodedRecordCache } from "../../../../src/http/encode/answer-buffer.ts";
import { TextRing } from "../../../../src/http/encode/newest-texts.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { JsonWriter } from "../../../../src/lib/text/json-writer.ts";
import { FieldChoice } from "../../../../src/model/field-choice.ts";
import { APP, batchOf } from "../../../support/reports/batches.ts";
import { checkMixes } from "./mixed-newest.ts";

const RUNS = 400;
const BASE_MS = Date.UTC(2026, 0, 14);

/** On Deno in `test/system/http/on-deno.test.ts`. */
test("texts are those of the newest records, whatever was reported, asked, sealed and forgotten before", () => {
  checkMixes(RUNS);
});

test("a profile's number that means another since is not taken for the one that it was", () => {
  const hot = createHotStore(new Scheduler(), new Dictionary(1));
  const texts = new EncodedRecordCache(new Uint8Array(65_536), 1024, 16_384);
  const form = { fields: new FieldChoice("deviceCurrent"), localTime: null, marks: null };
  const users = ["u0", "u1", "u2", "u3", "u4"].map((user_id, index) => {
    const report = { device_id: "a", timestamp: BASE_MS, latitude: 1, longitude: 2, user_id };
    hot.apply(APP, batchOf([report]), index + 1); // Nobody has the user before: the number is the next one's.
    if (index % 2 > 0) return null;
    const json = new JsonWriter(1024);
    texts.writeRecord(json, hot.findApp(APP)!.newestRecords, 0, form);
    return JSON.parse(new TextDecoder().decode(json.written())).user_id;
  });
  expect(users).toEqual(["u0", null, "u2", null, "u4"]);
});

test("a place is a 32-bit number for the engine, though offsets come from doubles", () => {
  const ring = new TextRing(64, 4096);
  const offsets = new Float64Array(100);
  for (let text = 0; text < offsets.length; text++) offsets[text] = ring.reserve(80);
  for (const offset of offsets.filter((known) => known >= ring.oldest))
    expect(jscDescribe(ring.addressOf(offset))).toStartWith("Int32");
});
