import { expect, test } from "bun:test";
import { fullKeyCommand, keyRights } from "../../../../src/web/settings/key-rights.ts";

const granted = (permissions: readonly ("read" | "write" | "edit" | "manage" | "operate" | "view")[]) =>
  keyRights({ app_id: "shop", permissions }).map(({ isGranted }) => isGranted);

test("a key has the rights of its permissions", () => {
  expect(granted(["read", "write", "edit", "manage"])).toEqual([true, true, true, true]);
  expect(granted(["read"])).toEqual([true, false, false, false]);
  expect(granted(["write", "operate"])).toEqual([false, true, false, false]);
});

test("a key that lacks a permission gets the command for one that has all, in its app", () => {
  expect(fullKeyCommand({ app_id: "shop", permissions: ["write", "manage", "edit", "read"] })).toBeNull();
  expect(fullKeyCommand({ app_id: "shop", permissions: ["read"] })).toBe(
    "npm run --silent cli -- keys create --app shop --permission read --permission write --permission edit --permission manage",
  );
});
