import { expect, test } from "bun:test";
import { parseDeviceProfile, profileMembers } from "../../../../src/model/device-profile.ts";
import {
  draftOf,
  lookOf,
  type ProfileDraft,
  type StoredProfile,
  storedOf,
  withoutTag,
  withTags,
} from "../../../../src/web/device/profile-draft.ts";
import { DEVICE_ICONS, type DeviceIcon } from "../../../../src/web/devices/device-icons.ts";
import * as fc from "../../../support/fast-check.ts";

const EMPTY = draftOf(null);

const typed = fc.string({ unit: "binary", maxLength: 140 });
const drafts: fc.Arbitrary<ProfileDraft> = fc
  .record({
    name: fc.oneof(typed, fc.constantFrom("", " Anna\t", "🚌".repeat(100), `${"x".repeat(127)}🚌`)),
    color: fc.constantFrom(null, "#1a73e8"),
    icon: fc.constantFrom(null, ...(Object.keys(DEVICE_ICONS) as DeviceIcon[])),
    texts: fc.array(typed, { maxLength: 30 }),
    metadata: fc.constantFrom(null, { plate: "AB12 CDE" }),
  })
  .map(({ texts, ...draft }) => texts.reduce(withTags, { ...draft, tags: [] as readonly string[] }));

test("whatever is typed, the server takes what the page sends, and stores just that", () => {
  fc.assert(
    fc.property(drafts, (draft) => {
      const sent = storedOf(draft);
      if (sent === null) return;
      const parsed = parseDeviceProfile(JSON.parse(JSON.stringify(sent)) as Record<string, unknown>);
      if (!parsed.ok) throw new Error(parsed.error);
      expect({ ...profileMembers(parsed.value) } as unknown).toEqual(sent);
    }),
  );
});

test("a stored profile that is not changed is sent as it was, with what the page does not show", () => {
  const stored: StoredProfile = {
    ...{ name: "Bus 42", color: "#1a73e8", icon: "bus", tags: ["line 10"] },
    metadata: { plate: "AB12 CDE" },
  };
  expect(storedOf(draftOf(stored))).toEqual(stored);
  expect(lookOf(draftOf(stored))).toEqual({ name: "Bus 42", color: "#1a73e8", icon: "bus" });
});

test("a draft with nothing in it is no profile, and one with tags alone shows nothing on the map", () => {
  expect([storedOf(EMPTY), lookOf(EMPTY)]).toEqual([null, null]);
  expect(storedOf({ ...EMPTY, name: " \t " })).toBeNull();
  const tagged = withTags(EMPTY, "mine");
  expect([storedOf(tagged), lookOf(tagged)] as unknown).toEqual([{ tags: ["mine"] }, null]);
});

test("commas separate tags; each is there once, and at most twenty are", () => {
  const draft = withTags(withTags(EMPTY, " a, b,,a "), "b,c");
  expect(draft.tags).toEqual(["a", "b", "c"]);
  expect(withoutTag(draft, "b").tags).toEqual(["a", "c"]);
  const many = withTags(draft, Array.from({ length: 30 }, (_, number) => `t${number}`).join());
  expect([many.tags.length, many.tags.at(-1)]).toEqual([20, "t16"]);
});
