import { expect, test } from "bun:test";
import { createTestApp, NOON_MS, type TestApp } from "../../support/test-app.ts";
import { runCli } from "./support/run-cli.ts";

/** `quarantine`, beside a server that answers it. */

async function serving(app: TestApp, work: (run: typeof runCli) => Promise<void>): Promise<void> {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url, method, headers }) {
      const { pathname, search } = new URL(url);
      return app.fetch(pathname + search, { method, headers });
    },
  });
  const asked = ["--url", `http://127.0.0.1:${server.port}`, "--key", app.keys.full];
  try {
    await work((verb, ...args) => runCli("quarantine", verb!, ...args, ...asked));
  } finally {
    await server.stop(true);
  }
}

async function send(app: TestApp, body: string): Promise<void> {
  const headers = { authorization: `Bearer ${app.keys.full}` };
  expect((await app.fetch("/ingest/overland", { method: "POST", headers, body })).status).toBe(200);
}

function feature(device: string, timestampMs: number) {
  const properties = { timestamp: new Date(timestampMs).toISOString(), device_id: device };
  return { type: "Feature", geometry: { type: "Point", coordinates: [-2.9, 53.4] }, properties };
}

test("quarantine lists, shows, tries again and deletes what a server keeps", async () => {
  const app = await createTestApp();
  const hourMs = 3_600_000;
  await send(
    app,
    JSON.stringify({ locations: ["bus", "tram"].map((name) => feature(name, NOON_MS + hourMs)) }),
  );
  await send(app, '{"\u001b[31m\u202ered');
  await serving(app, async (run) => {
    const listed = await run("list");
    expect([listed.code, listed.error]).toEqual([0, ""]);
    expect(listed.out.trimEnd().split("\n").length).toBe(4);
    expect(listed.out).toMatch(/^id +last came +times {2}client +reason +device +bytes\n/);
    const [red, tram, bus] = JSON.parse((await run("list", "--json")).out) as { id: string }[];

    const shown = await run("show", red!.id);
    expect(shown.out).toBe('{"\ufffd[31m\ufffdred\n');
    expect(shown.error).toContain("reason: bad_json\n");
    const came = new Date(NOON_MS).toISOString();
    expect(shown.error).toContain(`\narrived: ${came}\nlast_arrived: ${came}\n`);
    const whole = JSON.parse((await run("show", red!.id, "--json")).out);
    expect(whole.body).toBe('{"\u001b[31m\u202ered');

    const early = await run("replay", bus!.id);
    expect([early.code, early.out]).toEqual([1, "0 of 1 stored.\n"]);
    expect(early.error).toBe(`${bus!.id}: it still can't be used, and stays\n`);
    app.clock.advance(hourMs);
    const replayed = await run("replay", "--all", "--device", "bus");
    expect(replayed).toEqual({ code: 0, out: "1 of 1 stored.\n", error: "" });
    expect((await app.get("/api/v1/devices/bus/locations/current")).status).toBe(200);

    const unknown = await run("delete", "nobody", tram!.id);
    expect([unknown.code, unknown.out]).toEqual([1, "1 of 2 deleted.\n"]);
    expect(await run("delete", "--all")).toEqual({ code: 0, out: "1 of 1 deleted.\n", error: "" });
    expect(await run("list")).toEqual({ code: 0, out: "", error: "The quarantine is empty.\n" });
  });
});

test.each([
  [["replay"], "quarantine replay needs ids, as quarantine list shows them, or --all."],
  [["delete", "a", "--all"], "quarantine delete takes ids or --all, not both."],
  [["delete", "a", "--device", "bus"], "--client, --reason and --device need --all."],
  [["show"], "quarantine show needs the id of an entry, as quarantine list shows it."],
  [["list", "--reason", "odd"], "--reason must be one of"],
  [[], "quarantine needs a command: list, show, replay or delete."],
])("quarantine %j is a wrong command line", async (args, message) => {
  const { code, error } = await runCli("quarantine", ...args);
  expect(code).toBe(2);
  expect(error).toStartWith(message);
});
