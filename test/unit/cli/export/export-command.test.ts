import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { UNIX_ENVIRONMENT } from "../../../support/programs.ts";
import { until } from "../../../support/until.ts";
import { beginCli, runCli, startServer, withDirectory } from "../support/run-cli.ts";

/** The command: what it writes, what it leaves, and with which code it ends. */

const DAY_MS = 86_400_000;
const TODAY_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const day = (daysAgo: number) => new Date(TODAY_MS - daysAgo * DAY_MS).toISOString().slice(0, 10);

/** Devices whose names are no names of files, over a week in memory and some in the archive. */
const DEVICES = ["bus-1", "../../escaped", "Anna's \u{1F68C}", "BUS-1"];
const REPORTS = DEVICES.flatMap((device_id, device) =>
  Array.from({ length: 60 }, (_, index) => ({
    device_id,
    timestamp: TODAY_MS - (index % 20) * DAY_MS - 3_600_000 * device - index * 1000,
    latitude: 52 + index / 1000 + 1e-7,
    longitude: 13 - device / 3,
    user_id: device === 1 ? "=anna" : undefined,
    altitude: index % 3 === 0 ? undefined : index / 7,
    brand: index % 2 === 0 ? "" : '"quoted", \u2028',
    battery_level: 0.5,
    is_mock: index % 5 === 0,
  })),
);

async function fill(dataDir: string): Promise<void> {
  const file = join(root, "reports.ndjson");
  writeFileSync(file, REPORTS.map((report) => `${JSON.stringify(report)}\n`).join(""));
  await expectDone(runCli("import", file, "--app", "shop", "--data-dir", dataDir));
  await expectDone(runCli("seal", "--data-dir", dataDir));
}

async function expectDone(run: ReturnType<typeof runCli>) {
  const { code, out, error } = await run;
  expect({ code, error }).toMatchObject({ code: 0 });
  return out;
}

/** Of all records, as answers would show them. */
async function fingerprint(dataDir: string): Promise<string> {
  return JSON.parse(await expectDone(runCli("verify", "--json", "--data-dir", dataDir))).sha256;
}

const root = mkdtempSync(join(tmpdir(), "wherehouse-export-"));
const DATA = join(root, "data");
beforeAll(() => fill(DATA));
afterAll(() => rmSync(root, { recursive: true }));

const exportOf = (format: string, ...more: string[]) => [
  "export",
  "--app",
  "shop",
  "--format",
  format,
  "--data-dir",
  DATA,
  ...more,
];

describe("another directory made from the export answers the same", () => {
  for (const [format, packing] of [
    ["ndjson", null],
    ["ndjson", "gzip"],
    ["csv", null],
    ["csv", "zstd"],
    ["parquet", null],
  ] as const) {
    test(`${format}, ${packing ?? "not packed"}`, () =>
      withDirectory(async (root) => {
        const extension = { gzip: ".gz", zstd: ".zst", none: "" }[packing ?? "none"];
        const file = join(root, `all.${format}${extension}`);
        const packed = packing === null ? [] : ["--compress", packing];
        const out = await expectDone(runCli(...exportOf(format, "--out", file, ...packed)));
        expect(out).toMatch(new RegExp(`^${REPORTS.length} records, [\\d,]+ bytes: .*all`));
        const copy = join(root, "copy");
        await expectDone(runCli("import", file, "--app", "shop", "--data-dir", copy));
        expect(await fingerprint(copy)).toBe(await fingerprint(DATA));
      }));
  }
});

test("the file is on standard output alone, and the count is the last line beside it", async () => {
  const { code, out, error } = await runCli(
    ...exportOf("ndjson", "--device", "bus-1", "--from", day(3), "--to", day(1)),
  );
  expect(code).toBe(0);
  const times = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(times.every(({ device_id }) => device_id === "bus-1")).toBe(true);
  expect(times.map(({ timestamp }) => timestamp)).toEqual(times.map(({ timestamp }) => timestamp).sort());
  expect(times.length).toBeGreaterThan(3);
  expect(error).toMatch(
    new RegExp(`(^|\n)${times.length} records, ${Buffer.byteLength(out).toLocaleString("en")} bytes\n$`),
  );
});

test("of a simplified track what is written is counted", async () => {
  const { code, out, error } = await runCli(...exportOf("geojson", "--simplify", "100km"));
  const written = JSON.parse(out).features.length;
  expect({ code, isLess: written < REPORTS.length }).toEqual({ code: 0, isLess: true });
  expect(error).toContain(`${written} records, `);
});

test("a file that is there is not written over unless that is wanted", () =>
  withDirectory(async (root) => {
    const file = join(root, "all.csv");
    writeFileSync(file, "precious");
    const refused = await runCli(...exportOf("csv", "--out", file));
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.error).toContain("--force");
    expect(readFileSync(file, "utf8")).toBe("precious");
    await expectDone(runCli(...exportOf("csv", "--out", file, "--force")));
    expect(readFileSync(file, "utf8")).toStartWith("device_id,timestamp,time,");
    expect(readdirSync(root)).toEqual(["all.csv"]);
  }));

test("nothing takes the place of a device, a pipe or a directory", () =>
  withDirectory(async (root) => {
    const pipe = join(root, "pipe");
    expect(Bun.spawnSync(["mkfifo", pipe], { env: UNIX_ENVIRONMENT }).exitCode).toBe(0);
    for (const out of [pipe, root]) {
      const refused = await runCli(...exportOf("csv", "--out", out, "--force"));
      expect(refused).toMatchObject({ code: 1, out: "" });
      expect(refused.error).toContain("is not a regular file");
    }
    expect(lstatSync(pipe).isFIFO()).toBe(true);
    expect(readdirSync(root)).toEqual(["pipe"]);
  }));

describe("--split", () => {
  test("by device: a file each, whatever it is called, and all in the directory that was named", () =>
    withDirectory(async (root) => {
      const out = join(root, "deep/out");
      await expectDone(runCli(...exportOf("ndjson", "--split", "device", "--out", out)));
      expect(readdirSync(root)).toEqual(["deep"]);
      const names = [
        "%2E.%2F..%2Fescaped.ndjson",
        "Anna%27s%20%F0%9F%9A%8C.ndjson",
        "BUS-1.ndjson",
        "%62us-1.ndjson",
      ];
      expect(readdirSync(out).sort()).toEqual(names.sort());
      const lines = names.flatMap((name) => readFileSync(join(out, name), "utf8").trimEnd().split("\n"));
      expect(lines).toHaveLength(REPORTS.length);
      const devices = readFileSync(join(out, names[0]!), "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(new Set(devices.map(({ device_id }) => device_id)).size).toBe(1);
    }));

  test("by device: import takes the devices back from the names of files that name none", () =>
    withDirectory(async (root) => {
      const out = join(root, "kml");
      await expectDone(runCli(...exportOf("kml", "--split", "device", "--out", out)));
      const other = join(root, "other");
      await expectDone(runCli("import", out, "--app", "shop", "--data-dir", other));
      const all = await expectDone(
        runCli("export", "--app", "shop", "--format", "ndjson", "--data-dir", other),
      );
      const devices = all
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).device_id);
      expect(new Set(devices)).toEqual(new Set(DEVICES));
    }));

  test("by day and by month: no file without records, packed ones by their names", () =>
    withDirectory(async (root) => {
      const range = ["--from", day(12), "--to", day(1)];
      const out = join(root, "days");
      const said = await expectDone(
        runCli(...exportOf("csv", ...range, "--split", "day", "--compress", "gzip", "--out", out)),
      );
      const days = readdirSync(out).sort();
      expect(said.trimEnd().split("\n")).toHaveLength(days.length);
      for (const name of days) {
        const [, ...rows] = gunzipSync(readFileSync(join(out, name)))
          .toString()
          .trimEnd()
          .split("\r\n");
        expect(rows.length).toBeGreaterThan(0);
        expect(rows.every((row) => row.includes(`,${name.slice(0, 10)}T`))).toBe(true);
      }
      const months = join(root, "months");
      await expectDone(
        runCli(...exportOf("csv", ...range, "--split", "month", "--compress", "zstd", "--out", months)),
      );
      const rows = readdirSync(months)
        .sort()
        .flatMap((name) =>
          zstdDecompressSync(readFileSync(join(months, name)))
            .toString()
            .trimEnd()
            .split("\r\n")
            .slice(1),
        );
      const daily = days.flatMap((name) =>
        gunzipSync(readFileSync(join(out, name)))
          .toString()
          .trimEnd()
          .split("\r\n")
          .slice(1),
      );
      expect(rows).toEqual(daily);
      expect(readdirSync(months).every((name) => /^\d{4}-\d\d\.csv\.zst$/.test(name))).toBe(true);
    }));

  test("without records there is no file, and that is said", () =>
    withDirectory(async (root) => {
      const range = ["--from", "2001-01-01", "--to", "2001-01-02"];
      const { code, error } = await runCli(
        ...exportOf("gpx", ...range, "--split", "day", "--out", join(root, "x")),
      );
      expect(code).toBe(0);
      expect(error).toContain("no file was written");
      expect(readdirSync(join(root, "x"))).toEqual([]);
    }));
});

test("names a device that is not there, and a directory that is in use or missing", async () => {
  const unknown = await runCli(...exportOf("csv", "--device", "nobody"));
  expect(unknown).toEqual({ code: 1, out: "", error: 'There is no device "nobody".\n' });
  const missing = await runCli("export", "--app", "shop", "--format", "csv", "--data-dir", `${DATA}-not`);
  expect(missing).toMatchObject({ code: 1, out: "" });
  expect(missing.error).toContain("There is no data directory");
});

/** Pieces of an answer that somebody else makes, and a key as they look. */
async function withServer(
  body: (controller: ReadableStreamDefaultController<Uint8Array>) => unknown,
  work: (target: readonly string[], asked: URL[]) => Promise<void>,
): Promise<void> {
  const key = await expectDone(
    runCli("keys", "create", "--app", "shop", "--permission", "read", "--data-dir", DATA),
  );
  const asked: URL[] = [];
  const server = Bun.serve({
    port: 0,
    fetch(request) {
      asked.push(new URL(request.url));
      return new Response(new ReadableStream({ start: (controller) => void body(controller) }));
    },
  });
  try {
    await work(["--url", `http://127.0.0.1:${server.port}`, "--key", key.trim()], asked);
  } finally {
    await server.stop(true);
  }
}

const LINE = new TextEncoder().encode('{"device_id":"a","timestamp":1,"latitude":1,"longitude":2}\n');

describe("through a server", () => {
  test("files are those of the directory, to the byte", () =>
    withDirectory(async (root) => {
      const key = await expectDone(
        runCli("keys", "create", "--app", "shop", "--permission", "read", "--data-dir", DATA),
      );
      const pathOf = (from: string, format: string) => join(root, `${from}.${format}`);
      const formats = ["ndjson", "gpx", "kmz"];
      for (const format of formats)
        await expectDone(runCli(...exportOf(format, "--out", pathOf("directory", format))));
      const server = await startServer(DATA);
      const target = ["--app", "shop", "--url", server.url, "--key", key.trim()];
      for (const format of formats) {
        const out = await expectDone(
          runCli("export", "--format", format, "--out", pathOf("server", format), ...target),
        );
        if (format !== "kmz") expect(out).toStartWith(`${REPORTS.length} records, `);
        expect(readFileSync(pathOf("server", format))).toEqual(readFileSync(pathOf("directory", format)));
      }
      const busy = await runCli(...exportOf("csv"));
      expect(busy).toMatchObject({ code: 1, out: "" });
      expect(busy.error).toContain(`use --url ${server.url} and --key`);
      await server.stop();
    }));

  test("asks for what was asked for", () =>
    withServer(
      (controller) => controller.close(),
      async (target, asked) => {
        const which = [
          "--device",
          "a",
          "--device",
          "b&c",
          "--user",
          "u",
          "--from",
          "2025-01-01",
          "--to",
          "2025-12-31",
        ];
        const how = ["--timezone", "Asia/Tokyo", "--simplify", "0.5km", "--redact", "--gap", "2h"];
        await expectDone(runCli("export", "--format", "gpx", ...which, ...how, ...target));
        expect(asked.map(({ pathname }) => pathname)).toEqual(["/api/v1/export"]);
        expect([...asked[0]!.searchParams]).toEqual([
          ["format", "gpx"],
          ["start_date", "2025-01-01"],
          ["end_date", "2025-12-31"],
          ["device_id", "a"],
          ["device_id", "b&c"],
          ["user_id", "u"],
          ["timezone", "Asia/Tokyo"],
          ["redact", "true"],
          ["simplify", "500"],
          ["gap", "7200"],
        ]);
      },
    ));

  test("a stream that breaks off leaves no file, and that is said", () =>
    withDirectory((root) =>
      withServer(
        async (controller) => {
          controller.enqueue(LINE);
          await until(() => readdirSync(root).length > 0);
          controller.error(new Error("of the test"));
        },
        async (target) => {
          const file = join(root, "all.ndjson");
          const { code, out, error } = await runCli("export", "--format", "ndjson", "--out", file, ...target);
          expect({ code, out }).toEqual({ code: 1, out: "" });
          expect(error).toContain("closed the connection before the end");
          expect(readdirSync(root)).toEqual([]);
        },
      ),
    ));

  test("a command that is asked to stop leaves no file", () =>
    withDirectory((root) =>
      withServer(
        (controller) => controller.enqueue(LINE),
        async (target) => {
          const file = join(root, "all.ndjson");
          const command = beginCli(["export", "--format", "ndjson", "--out", file, ...target]);
          await until(() => readdirSync(root).length > 0);
          const { code, error } = await command.stop();
          expect(code).toBe(1);
          expect(error).toContain("Interrupted");
          expect(readdirSync(root)).toEqual([]);
        },
      ),
    ));

  test("says what the server says", async () => {
    const server = Bun.serve({
      port: 0,
      fetch: () =>
        Response.json({ success: false, message: "too many exports are under way" }, { status: 503 }),
    });
    const key = (
      await expectDone(runCli("keys", "create", "--app", "shop", "--permission", "read", "--data-dir", DATA))
    ).trim();
    const url = `http://127.0.0.1:${server.port}`;
    const refused = await runCli("export", "--format", "csv", "--url", url, "--key", key);
    expect(refused).toEqual({
      code: 1,
      out: "",
      error: `${url} answered 503: too many exports are under way.\n`,
    });
    await server.stop(true);
    const other = Bun.serve({
      port: 0,
      fetch: () => Response.json({ success: true, app_id: "bus", locations: [] }),
    });
    const named = ["--app", "shop", "--url", `http://127.0.0.1:${other.port}`, "--key", key];
    expect((await runCli("export", "--format", "csv", ...named)).error).toContain(
      'another app, not to "shop"',
    );
    await other.stop(true);
    const gone = await runCli("export", "--format", "csv", "--url", url, "--key", key);
    expect(gone.error).toContain("No server answers");
  });
});
