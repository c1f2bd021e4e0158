import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTestApp, NOON_MS } from "../../support/test-app.ts";
import { runCli, withDirectory } from "./support/run-cli.ts";

/** The commands of corrections, in a directory and beside a server that answers them. */

type Run = (verb: string, ...args: string[]) => ReturnType<typeof runCli>;

const ISO = (timestampMs: number) => new Date(timestampMs).toISOString();

/** A bus with a record each minute from `startMs` on, the third of them far away and hidden here. */
async function expectStory(run: Run, startMs: number, positions: () => Promise<number>): Promise<void> {
  const jump = startMs + 120_000;
  expect(await run("list")).toMatchObject({ code: 0, out: "", error: "There are no such corrections.\n" });
  const dry = await run("hide", "bus", "--at", String(jump), "--dry-run");
  expect(dry).toEqual({ code: 0, out: "", error: `This would hide 1 record of "bus" at ${ISO(jump)}.\n` });
  expect(await positions()).toBe(5);

  const range = ["--from", ISO(startMs), "--to", ISO(startMs + 600_000)];
  const hidden = await run("hide", "bus", ...range, "--circle", "10,20,1000", "--note", "jump\u202e");
  expect([hidden.code, hidden.error]).toEqual([0, `Hidden: 1 record of "bus" at ${ISO(jump)}.\n`]);
  const id = hidden.out.trim();
  expect(hidden.out).toMatch(/^[0-9A-Z]{26}\n$/);
  expect(await positions()).toBe(4);

  const { out } = await run("list", "--state", "active");
  expect(out).toMatch(/^id +state +does +device +records +first +last +note\n/);
  expect(out).toContain(`${id}  active  hide  bus           1  ${ISO(jump)}  ${ISO(jump)}  jump\ufffd\n`);
  const [listed] = JSON.parse((await run("list", "--device", "bus", "--json")).out);
  expect(listed).toMatchObject({ id, records: 1, first: jump, note: "jump\u202e", state: "active" });
  expect((await run("list", "--device", "tram")).out).toBe("");

  expect(await run("undo", id)).toEqual({
    code: 0,
    out: "",
    error: `The correction is undone: 1 record of "bus" at ${ISO(jump)}.\n`,
  });
  expect(await positions()).toBe(5);
  const place = ["--at", String(jump), "--place", "-53.5,2.5", "--accuracy", "8"];
  const moved = await run("move", "bus", ...place, "--json");
  expect([moved.code, moved.error]).toEqual([0, `Moved: 1 record of "bus" at ${ISO(jump)}.\n`]);
  const move = JSON.parse(moved.out);
  expect(move).toMatchObject({ action: "move", latitude: -53.5, longitude: 2.5, horizontal_accuracy: 8 });
  const shifted = await run("shift", "bus", "--by", "-90s", ...range);
  expect(shifted.error).toBe(
    `Shifted: 5 records of "bus" from ${ISO(startMs)} to ${ISO(startMs + 240_000)}.\n`,
  );
  expect(await run("shift", "bus", "--by", "1m", "--at", ISO(startMs - 90_000))).toMatchObject({
    code: 1,
    error: expect.stringContaining(`has a record at ${startMs - 30_000} already`),
  });
  expect((await run("undo", move.id)).error).toContain(`undo them first: ${shifted.out.trim()}`);
  const assigned = await run("assign", "bus", "--to-device", "tram", "--at", ISO(startMs - 30_000));
  expect(assigned.error).toBe(`Assigned: 1 record of "bus" at ${ISO(startMs - 30_000)}.\n`);
  expect((await run("undo", assigned.out.trim())).code).toBe(0);
  for (const made of [shifted.out.trim(), move.id]) expect((await run("undo", made)).code).toBe(0);
  expect(await positions()).toBe(5);
  expect((await run("list", "--state", "active")).out).toBe("");
  const merged = await run("assign", "bus", "--to-device", "new", "--to-user", "ada", "--json");
  expect(merged.error).toBe(
    `Assigned: 5 records of "bus" from ${ISO(startMs)} to ${ISO(startMs + 240_000)}.\n`,
  );
  const assignment = JSON.parse(merged.out);
  expect(assignment).toMatchObject({ action: "assign", to_device_id: "new", to_user_id: "ada" });
  expect(await run("assign", "bus", "--to-device", "other")).toMatchObject({
    code: 1,
    error: expect.stringContaining(`shows as "new" since correction ${assignment.id}: undo that first`),
  });
  expect((await run("undo", assignment.id)).code).toBe(0);
  expect(await positions()).toBe(5);
  const given = await run("assign", "bus", "--to-user", "ada");
  expect(given.error).toBe(merged.error);
  expect((await run("assign", "bus", "--to-user", "bob")).error).toContain('shows as that of the user "ada"');
  expect((await run("undo", given.out.trim())).code).toBe(0);
  expect((await run("undo", "01KDTV3GZ8Q3M5T7V9X1Z3B5D7")).code).toBe(1);
  expect(await run("hide", "bus", "--at", "7")).toMatchObject({
    code: 1,
    error: expect.stringContaining("no record matches the selection"),
  });
}

const positionAt = (startMs: number, minute: number) => ({
  device_id: "bus",
  timestamp: startMs + minute * 60_000,
  latitude: minute === 2 ? 10 : 53.4,
  longitude: minute === 2 ? 20 : -2.9,
});

test("corrections hide, list and undo work in a directory, and a start has what they did", () =>
  withDirectory(async (root) => {
    const where = ["--data-dir", join(root, "data"), "--app", "shop"];
    const startMs = Date.now() - 3_600_000;
    const track = join(root, "track.ndjson");
    const reports = Array.from({ length: 5 }, (_, minute) => positionAt(startMs, minute));
    writeFileSync(track, reports.map((report) => `${JSON.stringify(report)}\n`).join(""));
    expect((await runCli("import", track, ...where)).code).toBe(0);
    const run: Run = (verb, ...args) => runCli("corrections", verb, ...args, ...where);
    await expectStory(run, startMs, async () => {
      const { out } = await runCli("export", "--format", "ndjson", ...where);
      return out.trim().split("\n").length;
    });
  }));

test("corrections hide, list and undo ask a running server", async () => {
  const app = await createTestApp();
  const startMs = NOON_MS - 3_600_000;
  await app.store(Array.from({ length: 5 }, (_, minute) => positionAt(startMs, minute)));
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url, method, headers, body }) {
      const { pathname, search } = new URL(url);
      return app.fetch(pathname + search, { method, headers, body });
    },
  });
  const as =
    (key: string): Run =>
    (verb, ...args) =>
      runCli("corrections", verb, ...args, "--url", `http://127.0.0.1:${server.port}`, "--key", key);
  try {
    await expectStory(as(app.keys.full), startMs, async () => {
      const day = ISO(startMs).slice(0, 10);
      const path = `/api/v1/devices/bus/locations/history?start_date=${day}&end_date=${day}`;
      return (await app.get(path)).body.locations.length;
    });
    expect(await as(app.keys.reader)("list")).toMatchObject({
      code: 1,
      error: expect.stringContaining("answered 403"),
    });
  } finally {
    await server.stop(true);
  }
});

describe("corrections hide refuses", () => {
  test.each([
    [["--at", "1"], "corrections hide needs a device"],
    [["bus"], "corrections hide needs --at, or --from and --to"],
    [["bus", "--from", "1"], "corrections hide needs --at, or --from and --to"],
    [["bus", "--from", "2", "--to", "1"], "end must be after start"],
    [["bus", "--at", "1", "--bbox", "1,2,3,4"], "timestamps can't be combined with"],
    [["bus", "--at", "tomorrow"], "--at must be Unix milliseconds or a time such as"],
    [["bus", "--from", "1", "--to", "2", "--circle", "1,2"], "--circle must be three numbers"],
  ])("%p", async (args, message) => {
    const { code, error } = await runCli("corrections", "hide", ...args, "--app", "shop");
    expect([code, error]).toEqual([2, expect.stringContaining(message)]);
  });
});
