import { expect, test } from "bun:test";
import { FieldChoice, fieldNamesOf } from "../../../src/model/field-choice.ts";
import { LOCATION_FIELDS } from "../../../src/model/location-fields.ts";

test("FieldChoice shows the chosen fields of its kind, and device_id and timestamp always", () => {
  const choice = new FieldChoice("current", ["speed", "brand", "latitude"]);
  expect(choice.names).toEqual(["device_id", "timestamp", "latitude", "speed"]); // The kind has no brand.
  expect(LOCATION_FIELDS.filter((field) => choice.shows(field)).map(({ name }): string => name)).toEqual(
    choice.names as string[],
  );
  expect(choice.isWhole).toBe(false);
  expect(choice.key).toBe(new FieldChoice("current", ["latitude", "speed", "timestamp"]).key);
  expect(choice.key).not.toBe(new FieldChoice("current", ["latitude"]).key);
});

test("FieldChoice without a choice shows all fields of its kind", () => {
  const whole = new FieldChoice("appHistory");
  expect(whole.isWhole).toBe(true);
  expect(whole.names).toEqual(fieldNamesOf("appHistory"));
  expect(whole.names).toContain("appId");
  expect(whole.names).not.toContain("app_id");
});
