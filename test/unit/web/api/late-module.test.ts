import { expect, test } from "bun:test";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import { LateModule } from "../../../../src/web/api/late-module.ts";
import { rejection } from "../../../support/rejection.ts";

/** A module in a browser that remembers its first import as failed; `answer` is what the server says of its file. */
function remembered(answer: () => Promise<Response>) {
  const fetched: string[] = [];
  const api = {
    fetch(path: string) {
      fetched.push(path.replace(/^.*\/web\//, ""));
      return answer();
    },
  };
  const late = new LateModule<typeof import("../../../../src/web/geo/units.ts")>(api, "geo/units.ts", () =>
    Promise.reject(new TypeError("Failed to fetch dynamically imported module")),
  );
  return { late, fetched };
}

test("a module that could not be loaded is asked for under another address the next time", async () => {
  const { late, fetched } = remembered(async () => new Response());
  expect(await rejection(late.load())).toMatchObject({ name: "ApiError", isRefusal: false });
  expect(fetched).toEqual(["geo/units.ts?again=1"]);
  const { compassPoint } = await late.load();
  expect(compassPoint(90)).toBe("E");
  expect((await late.load()).compassPoint).toBe(compassPoint);
});

test("a server that has another version of the page says so, and is not asked again", async () => {
  const gone = new ApiError(404, "the map page has no such file now; load it again", { isOurs: true });
  const { late } = remembered(() => Promise.reject(gone));
  expect(await rejection(late.load())).toBe(gone);
});
