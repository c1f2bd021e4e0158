import { expect, test } from "bun:test";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import { Retries } from "../../../../src/web/api/retries.ts";
import type { StoredProfile } from "../../../../src/web/device/profile-draft.ts";
import { ProfileEditor } from "../../../../src/web/device/profile-editor.ts";

const PATH = "/api/v1/devices/van%2F7/profile";
const MISSING = new ApiError(404, "this app's device has no profile", { isOurs: true });

/** An editor of a server that answers with the faults first. */
function setUp(stored: StoredProfile | null) {
  const requests: unknown[] = [];
  const looks: unknown[] = [];
  const faults: Error[] = [];
  const answer = (request: readonly unknown[]) => {
    requests.push(request);
    const fault = faults.shift();
    if (fault !== undefined) throw fault;
  };
  const editor = new ProfileEditor({
    api: {
      retries: new Retries(() => 1),
      async get<Body>(path: string) {
        answer(["GET", path]);
        if (stored === null) throw MISSING;
        return { profile: stored } as Body;
      },
      async send<Body>(...request: readonly unknown[]) {
        answer(request);
        return {} as Body;
      },
    },
    table: { setLook: (id, look) => void looks.push([id, look]) },
    changed: () => undefined,
  });
  return { editor, requests, looks, faults };
}

test("a first profile is stored, with the tag that is still being typed, and shown at once", async () => {
  const { editor, requests, looks } = setUp(null);
  await editor.open("van/7");
  expect([editor.isStored, editor.draft?.name]).toEqual([false, ""]);
  editor.set({ name: "Anna's van", color: "#1a73e8" });
  editor.typeTag("family,");
  editor.typeTag("blue");
  expect(await editor.save()).toBeTrue();
  const look = { name: "Anna's van", color: "#1a73e8" };
  expect(requests).toEqual([
    ["GET", PATH],
    ["PUT", PATH, { ...look, tags: ["family", "blue"] }],
  ]);
  expect(looks).toEqual([["van/7", look]]);
});

test("a known profile is changed and keeps what the page does not show; removed, nothing of it is shown", async () => {
  const { editor, requests, looks } = setUp({
    name: "Van",
    icon: "van",
    metadata: { plate: "A" },
    tags: ["x"],
  });
  await editor.open("van/7");
  expect(editor.isStored).toBeTrue();
  editor.removeTag("x");
  editor.set({ icon: null });
  expect(await editor.save()).toBeTrue();
  expect(requests.at(-1)).toEqual(["PUT", PATH, { name: "Van", metadata: { plate: "A" } }]);
  expect(await editor.remove()).toBeTrue();
  expect(requests.at(-1)).toEqual(["DELETE", PATH]);
  expect(looks.at(-1)).toEqual(["van/7", null]);
});

test("a profile with nothing left in it is removed, also if it has gone meanwhile", async () => {
  const { editor, requests, faults } = setUp({ name: "Van" });
  await editor.open("van/7");
  editor.set({ name: "  " });
  faults.push(MISSING);
  expect(await editor.save()).toBeTrue();
  expect(requests.at(-1)).toEqual(["DELETE", PATH]);
});

test("what the server refuses stays in the dialog with the reason, and may be tried again", async () => {
  const { editor, faults, looks } = setUp({ name: "Van" });
  await editor.open("van/7");
  editor.set({ name: "Bus" });
  faults.push(new ApiError(403, "the key lacks the permission edit", { isOurs: true }));
  expect(await editor.save()).toBeFalse();
  expect([editor.fault, editor.isSaving, editor.draft?.name]).toEqual([
    "The key lacks the permission edit.",
    false,
    "Bus",
  ]);
  expect(looks).toEqual([]);
  expect(await editor.save()).toBeTrue();
  expect([editor.fault, looks.length]).toEqual([null, 1]);
});

test("while the server is away the dialog says so and tries again; a refusal ends that", async () => {
  const { editor, faults } = setUp({ name: "Van" });
  faults.push(new ApiError(0, "The server can't be reached."));
  const opening = editor.open("van/7");
  await Promise.resolve();
  await opening;
  expect([editor.draft?.name, editor.fault]).toEqual(["Van", null]);
  faults.push(new ApiError(403, "the key lacks the permission read", { isOurs: true }));
  await editor.open("van/7");
  expect([editor.draft, editor.fault]).toEqual([null, "The key lacks the permission read."]);
});

test("closed while it loads or stores, nothing of that comes up later", async () => {
  const { editor, looks } = setUp({ name: "Van" });
  const opening = editor.open("van/7");
  editor.close();
  await opening;
  expect([editor.deviceId, editor.draft]).toEqual([null, null]);
  await editor.open("van/7");
  const saving = editor.save();
  editor.close();
  expect(await saving).toBeFalse();
  expect([editor.isSaving, looks.length]).toEqual([false, 0]);
});
