import { expect, test } from "bun:test";
import { join } from "node:path";
import { createTestApp, NOON_MS } from "../../support/test-app.ts";
import { runCli, withDirectory } from "./support/run-cli.ts";

/** `devices list` and `devices set`, in a directory and beside a server that answers them. */

test("devices set and list work in a directory, and a start has what they stored", () =>
  withDirectory(async (root) => {
    const where = ["--data-dir", join(root, "data"), "--app", "shop"];
    const set = (...args: string[]) => runCli("devices", "set", ...args, ...where);
    const list = (...args: string[]) => runCli("devices", "list", ...args, ...where);
    expect(
      (await runCli("keys", "create", "--app", "shop", "--permission", "edit", "--data-dir", where[1]!)).code,
    ).toBe(0);
    expect(await list()).toMatchObject({ code: 0, out: "", error: "There are no such devices.\n" });
    const members = ["--name", "Bus 42", "--color", "#1A73E8", "--tag", "van", "--tag", "red"];
    expect(await set("bus", ...members)).toMatchObject({
      code: 0,
      out: "",
      error: 'The profile of "bus" is stored.\n',
    });
    expect((await set("bus", "--icon", "bus", "--metadata", '{"plate":"AB"}')).code).toBe(0);
    expect((await set("tram", "--name", "Tram\u202e")).code).toBe(0);
    const bus = { device_id: "bus", name: "Bus 42", color: "#1a73e8", icon: "bus", tags: ["van", "red"] };
    expect(JSON.parse((await list("--tag", "red", "--json")).out)).toEqual([
      { ...bus, metadata: { plate: "AB" } },
    ]);
    const { out } = await list("--text", "TRAM");
    expect(out).toMatch(/^device +name +last seen +color +icon +tags\n/);
    expect(out).toMatch(/\ntram +Tram\ufffd +- +- +- +-\n$/);
    expect((await set("bus", "--delete")).error).toBe('The profile of "bus" is deleted.\n');
    expect(await set("bus", "--delete")).toMatchObject({
      code: 1,
      error: 'The device "bus" has no profile.\n',
    });
  }));

test("devices set and list ask a running server", async () => {
  const app = await createTestApp();
  await app.store([{ device_id: "bus", timestamp: NOON_MS, latitude: 53.4, longitude: -2.9 }]);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url, method, headers, body }) {
      const { pathname, search } = new URL(url);
      return app.fetch(pathname + search, { method, headers, body });
    },
  });
  const run = (verb: string, ...args: string[]) =>
    runCli("devices", verb, ...args, "--url", `http://127.0.0.1:${server.port}`, "--key", app.keys.full);
  try {
    expect((await run("set", "bus", "--name", "Bus 42", "--tag", "a")).code).toBe(0);
    expect((await run("set", "bus", "--color", "#123456")).code).toBe(0);
    expect(JSON.parse((await run("list", "--json")).out)).toEqual([
      { device_id: "bus", last_seen: NOON_MS, name: "Bus 42", color: "#123456", tags: ["a"] },
    ]);
    expect((await run("set", "bus", "--delete")).code).toBe(0);
    expect((await run("set", "bus", "--delete")).code).toBe(1);
    const stranger = await runCli(
      "devices",
      "set",
      "bus",
      "--name",
      "x",
      "--url",
      `http://127.0.0.1:${server.port}`,
      "--key",
      app.keys.reader,
    );
    expect([stranger.code, stranger.error]).toEqual([
      1,
      expect.stringContaining("lacks the permission edit"),
    ]);
  } finally {
    await server.stop(true);
  }
});

test.each([
  [["list"], "devices list needs --app, or --key for a running server"],
  [["set", "--app", "a", "--name", "x"], "devices set needs a device"],
  [["set", "bus", "--app", "a"], "devices set needs --name, --color, --icon, --tag, --metadata or --delete"],
  [["set", "bus", "--app", "a", "--name", "x", "--delete"], "--delete goes with no member of the profile"],
  [["set", "bus", "--app", "a", "--color", "red"], "color must be # and six hexadecimal digits"],
  [["set", "bus", "--app", "a", "--metadata", "[]"], '--metadata must be a JSON object, not "[]"'],
  [["list", "--url", "http://127.0.0.1:1"], "devices list --url needs --key, or the key in WHEREHOUSE_KEY"],
])("devices %j is refused", async (args, message) => {
  const refused = await runCli("devices", ...args);
  expect([refused.code, refused.error.includes(message)]).toEqual([2, true]);
});
