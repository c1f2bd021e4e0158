import { expect, test } from "bun:test";
import { createTestApp, NOON_MS, type TestApp } from "../../support/test-app.ts";
import { OPERATIONS, plainPath } from "./support/operations.ts";

/** What browsers are told about answers, on every one of them: those of the document, and those of nothing there. */

const readAsset = (specifier: string) => Bun.file(new URL(import.meta.resolve(specifier))).bytes();
const ORIGIN = "https://map.example";
const app = await createTestApp({ readAsset });
const open = await createTestApp({ readAsset, corsOrigins: [ORIGIN] });
for (const each of [app, open]) {
  await each.store([
    { device_id: "bus", user_id: "driver", timestamp: NOON_MS, latitude: 53.4, longitude: -2.9 },
  ]);
}

const ASSETS = [
  ...(await (await app.fetch("/docs/ui")).text()).matchAll(/(?:src|href)="(\/docs\/ui[^"]*)"/g),
].map(([, path]) => path!);

/** Requests of every kind, by what they are. */
function requestsOf({ keys }: TestApp): Record<string, [path: string, init: RequestInit]> {
  const requests: Record<string, [string, RequestInit]> = {};
  for (const named of OPERATIONS) {
    const { name, method, path } = named;
    const plain = plainPath(named, "bus", "driver");
    const body = method === "POST" ? '{"locations":[]}' : undefined;
    for (const key of ["full", "operator", "revoked"] as const) {
      const headers = {
        authorization: `Bearer ${keys[key]}`,
        "content-type": "application/json",
        origin: ORIGIN,
      };
      requests[`${name} with the key ${key}`] = [
        plain,
        { method, headers, ...(body === undefined ? {} : { body }) },
      ];
    }
    const headers = { authorization: `Bearer ${keys.full}` };
    requests[`${name} without a key`] = [plain, { method }];
    requests[`${name} that is not there`] = [path.replaceAll(/[{}]/g, ""), { method, headers }];
    requests[`${name} with a bad part`] = [path.replaceAll(/\{\w+\}/g, "%ff"), { method, headers }];
    requests[`HEAD for ${name}`] = [plain, { method: "HEAD", headers }];
    requests[`DELETE for ${name}`] = [plain, { method: "DELETE", headers }];
    requests[`OPTIONS for ${name}`] = [plain, { method: "OPTIONS", headers: { origin: ORIGIN } }];
  }
  for (const path of [...ASSETS, "/", "/nowhere", "//", "/docs/ui/%2e%2e/x"]) requests[path] = [path, {}];
  return requests;
}

test("every answer keeps browsers from guessing its type, running anything in it and framing it", async () => {
  let answers = 0;
  for (const each of [app, open]) {
    for (const [what, [path, init]] of Object.entries(requestsOf(each))) {
      const { status, headers } = await each.fetch(path, init);
      const [policy, isPage] = [headers.get("content-security-policy"), path === "/docs/ui"];
      const told = `${what}: ${status} ${policy}`;
      expect(headers.get("x-content-type-options"), told).toBe("nosniff");
      if (isPage && status === 200)
        expect(policy, told).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/);
      else expect(policy, told).toBe("default-src 'none'; frame-ancestors 'none'");
      answers++;
    }
  }
  expect(answers).toBeGreaterThan(200);
});

test("the page and its files are for this origin alone, and tell no address onward", async () => {
  expect(ASSETS.length).toBeGreaterThan(4);
  for (const path of ["/docs/ui", ...ASSETS]) {
    const { headers } = await app.fetch(path);
    expect(headers.get("cross-origin-opener-policy"), path).toBe("same-origin");
    expect(headers.get("cross-origin-resource-policy"), path).toBe("same-origin");
    expect(headers.get("referrer-policy"), path).toBe("no-referrer");
  }
});

test("no answer names the program's parts or sets a cookie", async () => {
  for (const [what, [path, init]] of Object.entries(requestsOf(app))) {
    const names = [...(await app.fetch(path, init)).headers.keys()];
    expect(
      names.filter((name) => /^(server|x-powered-by|set-cookie|via)$/.test(name)),
      what,
    ).toEqual([]);
  }
});
