import { expect, test } from "bun:test";
import { watchSettings } from "../../../src/app/settings.ts";
import { systemTimers } from "../../../src/lib/schedule/timers.ts";
import { DEFAULT_RETENTION, FixedRetention } from "../../../src/model/time/retention.ts";
import { createMemoryKeyFiles } from "../auth/memory-key-files.ts";
import { openTestSettings } from "./test-settings.ts";

const TEN_YEARS = FixedRetention.ofDays(3653);
/** Files are looked at all the time. */
const HURRIED = { ...systemTimers, after: (_ms: number, call: () => void) => systemTimers.after(0, call) };
const bytesOf = (content: unknown) => new TextEncoder().encode(JSON.stringify(content));

test("settings have defaults without a file, and follow changes", async () => {
  const files = createMemoryKeyFiles();
  const [server, command] = [await openTestSettings(files), await openTestSettings(files)];
  const { retention } = server; // Handed out once, and asked again and again.
  expect([server.state, retention.text]).toEqual(["missing", "365d"]);
  expect(await command.setRetention(TEN_YEARS)).toEqual({ ok: true, value: undefined });
  expect(command.retention.text).toBe("3653d");
  expect(retention.text).toBe("365d");
  await server.reload();
  expect([server.state, retention.text]).toEqual(["ok", "3653d"]);
  expect(retention.startMs(Date.UTC(2026, 10, 22, 5))).toBe(Date.UTC(2016, 10, 21));
  expect(new TextDecoder().decode(files.bytes!)).toBe('{\n  "version": 1,\n  "retention": "3653d"\n}\n');
  expect((await openTestSettings(files)).retention.text).toBe("3653d");
});

test("without a file the caller supplies the settings until one is set", async () => {
  const settings = await openTestSettings(createMemoryKeyFiles(), TEN_YEARS);
  await settings.reload();
  expect([settings.state, settings.retention.text]).toEqual(["missing", "3653d"]);
  const told: string[] = [];
  const tell = (what: string) => void told.push(what);
  watchSettings(settings, { onRetention: tell, onSettingsFile: tell }, HURRIED).stop();
  expect(told).toEqual(["3653d", "settings.json is gone. Until it is put back, the retention is 3653d"]);
  await settings.setRetention(DEFAULT_RETENTION);
  expect([settings.state, settings.retention.text]).toEqual(["ok", "365d"]);
});

test("a retention does not replace one that another process has set since it was read", async () => {
  const files = createMemoryKeyFiles();
  const [one, other] = [await openTestSettings(files), await openTestSettings(files)];
  await other.setRetention(FixedRetention.FOREVER);
  expect(await one.setRetention(TEN_YEARS)).toEqual({
    ok: false,
    error: { kind: "changed", text: "forever" },
  });
  await one.reload();
  expect([one.retention.text, await one.setRetention(TEN_YEARS)]).toEqual([
    "forever",
    { ok: true, value: undefined },
  ]);
  files.bytes = null; // A lost file is no other setting.
  expect(await one.setRetention(DEFAULT_RETENTION)).toMatchObject({ ok: true });
});

test.each([
  ["no JSON", new Uint8Array([1, 2, 3]), "it is not a JSON object"],
  ["no version", bytesOf({ retention: "365d" }), "its format version is missing"],
  [
    "a newer version",
    bytesOf({ version: 2, retention: "365d" }),
    "it has format version 2 of a newer program, and this program reads version 1",
  ],
  ["no retention", bytesOf({ version: 1 }), "its retention is missing"],
  ["a retention of 3 days", bytesOf({ version: 1, retention: "3d" }), "its retention must be at least 7d"],
])("with %s in the file nothing is given up, and it is left as it is", async (_, bytes, reason) => {
  const files = createMemoryKeyFiles();
  files.bytes = bytes;
  const settings = await openTestSettings(files);
  expect(settings.state).toMatchObject({ damaged: expect.stringContaining(reason) });
  expect(settings.retention.text).toBe("forever");
  const set = await settings.setRetention(DEFAULT_RETENTION);
  expect(set).toMatchObject({ ok: false, error: { kind: "file_damaged", file: "settings.json" } });
  expect([files.bytes, settings.retention.text]).toEqual([bytes, "forever"]);
  files.bytes = bytesOf({ version: 1, retention: "10y" });
  await settings.reload();
  expect([settings.state, settings.retention.text]).toEqual(["ok", "10y"]);
});

test("a file that is damaged or gone later changes nothing of what is in force", async () => {
  const files = createMemoryKeyFiles();
  const settings = await openTestSettings(files);
  await settings.setRetention(TEN_YEARS);
  const good = files.bytes;
  for (const [bytes, state] of [
    [new Uint8Array(), { damaged: "it is not a JSON object" }],
    [null, "missing"],
    [good, "ok"],
  ] as const) {
    files.bytes = bytes;
    await settings.reload();
    expect([settings.state, settings.retention.text]).toEqual([state, "3653d"]);
  }
});

test("watchSettings() tells of a retention that is not the default, of each new one, and of what is wrong", async () => {
  const files = createMemoryKeyFiles();
  await (await openTestSettings(files)).setRetention(TEN_YEARS);
  const settings = await openTestSettings(files);
  let heard: (what: string) => void = () => {};
  const told: string[] = [];
  const tell = (what: string) => {
    told.push(what);
    heard(what);
  };
  const next = () => new Promise<string>((resolve) => (heard = resolve));
  const events = { onRetention: tell, onSettingsFile: tell };
  const watch = watchSettings(settings, events, HURRIED);
  expect(told).toEqual(["3653d"]);
  const changed = next();
  await (await openTestSettings(files)).setRetention(DEFAULT_RETENTION);
  expect(await changed).toBe("365d");
  const damaged = next();
  files.bytes = new Uint8Array([0]);
  expect(await damaged).toBe(
    "settings.json can't be used: it is not a JSON object. Until it is put back, the retention is 365d",
  );
  watch.stop();

  told.length = 0;
  watchSettings(await openTestSettings(), events, HURRIED).stop();
  expect(told).toEqual([]); // The default needs no word.
});
