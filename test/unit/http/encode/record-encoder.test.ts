import { expect, test } from "bun:test";
import { createRecordEncoder, RecordEncoders } from "../../../../src/http/encode/record-encoder.ts";
import { DeviceFragments } from "../../../../src/http/encode/record-fragments.ts";
import { JsonWriter } from "../../../../src/lib/text/json-writer.ts";
import { FieldChoice } from "../../../../src/model/field-choice.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { NUMBER_FIELDS, profileIndex } from "../../../../src/model/location-fields.ts";
import type { RecordPage } from "../../../../src/model/record-page.ts";

const APP = "app" as AppId;

/** A page of one record of this brand; counts how often its texts are asked for. */
function pageOf(brand: string): { page: RecordPage; asked: () => number } {
  let asked = 0;
  const page = {
    count: 1,
    deviceIds: ["a" as DeviceId],
    timestampMs: Float64Array.of(0),
    numbers: new Float64Array(NUMBER_FIELDS.length),
    profile: Uint32Array.of(7),
    state: Uint32Array.of(3),
    dictionary: {
      profileText(_: number, member: number) {
        asked++;
        return member === profileIndex("brand") ? brand : "u";
      },
      stateText: () => null,
    },
  };
  return { page, asked: () => asked };
}

test("writePage() encodes texts once, and those that are very long anew each time rather than keep them", () => {
  for (const [brand, isKept] of [
    ["Google", true],
    ["\u{1F68C}".repeat(400), false],
  ] as const) {
    const encoder = createRecordEncoder(new FieldChoice("deviceHistory"));
    const { page, asked } = pageOf(brand);
    const written = [1, 2].map(() => {
      const json = new JsonWriter(8192);
      encoder.writePage(json, APP, page, null);
      return [JSON.parse(new TextDecoder().decode(json.written())).brand, asked()] as const;
    });
    expect(written.map(([shown]) => shown)).toEqual([brand, brand]);
    expect(written[1]![1] === written[0]![1]).toBe(isKept);
  }
});

test("a cache of devices takes 24 MB at most, however long their ids are", () => {
  const fragments = new DeviceFragments("appHistory");
  let most = 0;
  for (let n = 0; n < 30_000; n++) {
    fragments.of(APP, `${n} ${"\u{1F68C}".repeat(120)}` as DeviceId);
    most = Math.max(most, fragments.bytes);
  }
  expect(most).toBeLessThanOrEqual(24_000_000);
  expect(most).toBeGreaterThan(20_000_000);
  expect(fragments.of(APP, "a" as DeviceId)).toBe(fragments.of(APP, "a" as DeviceId));
});

test("RecordEncoders has encoders of the last four choices, and of whole records always", () => {
  const encoders = new RecordEncoders("appHistory");
  const choiceOf = (...names: readonly string[]) => new FieldChoice("appHistory", names);
  const [whole, first] = [encoders.of(new FieldChoice("appHistory")), encoders.of(choiceOf("speed", "id"))];
  expect(encoders.of(choiceOf("id", "speed"))).toBe(first); // Equal choices share one.
  for (const name of ["latitude", "longitude", "altitude", "bearing"]) encoders.of(choiceOf(name));
  expect(encoders.of(choiceOf("id", "speed"))).not.toBe(first);
  expect(encoders.of(new FieldChoice("appHistory"))).toBe(whole);
});
