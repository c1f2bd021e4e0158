import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unzip } from "../../../support/formats/unzip.ts";
import { until } from "../../../support/until.ts";
import { beginCli, runCli, startServer, withDirectory } from "../support/run-cli.ts";

/**
 * `export --complete` of a user with two phones, one of whose records is hidden, beside a bus that is nobody's
 * business, in a directory and through a server.
 */

const DAY_MS = 86_400_000;
const START_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS - 10 * DAY_MS;

const REPORTS = [
  { device_id: "old", user_id: "anna", day: 0 },
  { device_id: "new", user_id: "anna", day: 8 },
  { device_id: "bus", user_id: "bert", day: 8 },
].flatMap(({ day, ...names }) =>
  Array.from({ length: 6 }, (_, step) => ({
    ...names,
    timestamp: START_MS + day * DAY_MS + step * 60_000,
    latitude: 53 + step / 1000,
    longitude: -3,
  })),
);
const HIDDEN_MS = START_MS;
const LONG_BODY = `{"${"x".repeat(70_000)}`;

const root = mkdtempSync(join(tmpdir(), "wherehouse-complete-"));
const DATA = join(root, "data");
const directory = ["--data-dir", DATA, "--app", "shop"];
afterAll(() => rmSync(root, { recursive: true }));

async function succeed(...args: string[]): Promise<string> {
  const { code, out, error } = await runCli(...args);
  expect({ code, error }).toMatchObject({ code: 0 });
  return out;
}

async function createKey(...args: string[]): Promise<string> {
  return (await succeed("keys", "create", ...directory, ...args)).trim();
}

const keys: Record<"phone" | "spare" | "bus" | "read" | "edit", string> = {
  phone: "",
  spare: "",
  bus: "",
  read: "",
  edit: "",
};

beforeAll(async () => {
  const file = join(root, "reports.ndjson");
  writeFileSync(file, REPORTS.map((report) => `${JSON.stringify(report)}\n`).join(""));
  await succeed("import", file, ...directory);
  await succeed("seal", "--data-dir", DATA);
  await succeed("corrections", "hide", "old", "--at", String(HIDDEN_MS), "--note", "wrong", ...directory);
  await succeed("corrections", "hide", "bus", "--at", String(REPORTS.at(-1)!.timestamp), ...directory);
  await succeed("devices", "set", "new", "--name", "Anna's phone", ...directory);
  await succeed("devices", "set", "ghost", "--name", "Never reported", ...directory);
  const write = ["--permission", "write"];
  keys.phone = await createKey(...write, "--device", "new", "--label", "phone");
  keys.spare = await createKey(...write, "--user", "anna", "--label", "spare");
  keys.bus = await createKey(...write, "--device", "bus", "--label", "of the bus");
  keys.read = await createKey("--permission", "read");
  keys.edit = await createKey("--permission", "read", "--permission", "edit");
  const shows = ["--show-device", "new", "--show-device", "bus", "--label", "link"];
  await createKey("--permission", "view", ...shows, "--expires", "12h");
  const server = await startServer(DATA);
  for (const [key, body] of [
    [keys.phone, LONG_BODY],
    [keys.spare, '{"\u00ff'],
    [keys.bus, '{"bus'],
  ] as const) {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const sent = { method: "POST", headers, body: Buffer.from(body, "latin1") };
    expect((await fetch(`${server.url}/ingest/overland`, sent)).status).toBe(200);
  }
  await server.stop();
});

type Files = Readonly<Record<string, string>>;

/** The files of an archive by name, as text. */
async function filesOf(path: string): Promise<Files> {
  const files = await unzip(readFileSync(path));
  return Object.fromEntries(files.map(({ name, bytes }) => [name, Buffer.from(bytes).toString()]));
}

async function exported(root: string, ...args: string[]): Promise<Files> {
  const path = join(root, "complete.zip");
  await succeed("export", "--complete", "--out", path, "--force", ...args);
  return filesOf(path);
}

function listOf(files: Files, name: string): readonly Record<string, unknown>[] {
  return JSON.parse(files[name]!);
}

const devicesOf = (csv: string) =>
  csv
    .trimEnd()
    .split("\r\n")
    .slice(1)
    .map((line) => line.split(",")[0]);

const EXTENSIONS = ["csv", "geojson", "gpx"];
const NAMES = [
  ...["as-shown", "as-reported"].flatMap((set) => EXTENSIONS.map((each) => `records/${set}.${each}`)),
  ...["profiles.json", "corrections.json", "quarantine.json", "keys.json", "README.txt"],
];

test("a user's archive has all that is stored about the user, and nothing about others", () =>
  withDirectory(async (root) => {
    const files = await exported(root, "--user", "anna", ...directory);
    expect(Object.keys(files)).toEqual(NAMES);
    const [old, phone] = [Array(6).fill("old"), Array(6).fill("new")];
    expect(devicesOf(files["records/as-shown.csv"]!)).toEqual([...old.slice(1), ...phone]);
    expect(devicesOf(files["records/as-reported.csv"]!)).toEqual([...old, ...phone]);
    const { features } = JSON.parse(files["records/as-reported.geojson"]!);
    expect(features).toHaveLength(12);
    expect(files["records/as-shown.gpx"]!.match(/<trkpt /g)).toHaveLength(11);
    expect(listOf(files, "profiles.json")).toEqual([{ device_id: "new", name: "Anna's phone" }]);
    expect(listOf(files, "corrections.json")).toMatchObject([
      { device_id: "old", note: "wrong", records: 1, state: "active" },
    ]);
    const messages = listOf(files, "quarantine.json");
    expect(new Set(messages.map(({ body, body_base64 }) => body ?? body_base64))).toEqual(
      new Set([LONG_BODY, Buffer.from('{"\u00ff', "latin1").toString("base64")]),
    );
    const listed = listOf(files, "keys.json");
    expect(listed.map(({ label }) => label)).toEqual(["phone", "spare", "link"]);
    expect(listed[2]!.shows).toMatchObject({ device_ids: ["new"] });
    const all = Object.values(files).join("");
    for (const secret of ["bus", "bert", keys.phone, keys.spare, "sha256"])
      expect(all.includes(secret) && secret).toBe(false);
    const readme = files["README.txt"]!;
    expect(readme).toStartWith('What is stored about user "anna"\n');
    expect(readme).toContain('Devices of the user: "old", "new"\n');
    expect(readme).toMatch(/records\/as-shown\.csv +11 records: every field/);
    expect(readme).toMatch(/records\/as-reported\.gpx +12 records: tracks/);
    expect(readme).not.toContain("What is missing");
  }));

test("devices' archives are theirs alone; without corrections records are there once", () =>
  withDirectory(async (root) => {
    const old = await exported(root, "--device", "old", "--device", "ghost", ...directory);
    expect(new Set(devicesOf(old["records/as-reported.csv"]!))).toEqual(new Set(["old"]));
    expect(listOf(old, "profiles.json")).toEqual([{ device_id: "ghost", name: "Never reported" }]);
    expect([listOf(old, "quarantine.json"), listOf(old, "keys.json")]).toEqual([[], []]);
    expect(old["README.txt"]).toStartWith('What is stored about devices "old" and "ghost"\n');
    const phone = await exported(root, "--device", "new", ...directory);
    expect(Object.keys(phone)).toEqual(NAMES.filter((name) => !name.includes("as-reported")));
    expect(listOf(phone, "quarantine.json").map(({ body }) => body)).toEqual([LONG_BODY]);
    expect(listOf(phone, "keys.json").map(({ label }) => label)).toEqual(["phone", "link"]);
    const ghost = await exported(root, "--device", "ghost", ...directory);
    expect(Object.keys(ghost).filter((name) => name.startsWith("records"))).toEqual([]);
    expect(ghost["README.txt"]).toContain("There are no records of positions.");
  }));

test("records that a correction gives to another device are in the archives of both, and so is the correction", () =>
  withDirectory(async (root) => {
    const own = ["--data-dir", join(root, "data"), "--app", "shop"];
    await succeed("import", join(DATA, "../reports.ndjson"), ...own);
    await succeed("corrections", "assign", "old", "--at", String(HIDDEN_MS), "--to-device", "new", ...own);
    const counts = { shown: [5, 7], reported: [6, 6] };
    for (const [index, device] of ["old", "new"].entries()) {
      const files = await exported(root, "--device", device, ...own);
      expect(devicesOf(files["records/as-shown.csv"]!)).toEqual(Array(counts.shown[index]).fill(device));
      expect(devicesOf(files["records/as-reported.csv"]!)).toEqual(
        Array(counts.reported[index]).fill(device),
      );
      expect(listOf(files, "corrections.json")).toMatchObject([{ device_id: "old", to_device_id: "new" }]);
    }
    const bus = await exported(root, "--device", "bus", ...own);
    expect(listOf(bus, "corrections.json")).toEqual([]);
  }));

test.each(["--device", "--user"])("%s that is unknown is named, and no file is written", (flag) =>
  withDirectory(async (root) => {
    const out = ["--complete", "--out", join(root, "x.zip")];
    const { code, error } = await runCli("export", ...out, flag, "nobody", ...directory);
    const subject = `${flag.slice(2)} "nobody"`;
    expect({ code, error }).toEqual({ code: 1, error: `App "shop" stores nothing about ${subject}.\n` });
    expect(readdirSync(root)).toEqual([]);
  }),
);

test("the archive may go to standard output, with the count beside it", async () => {
  const { code, out, error } = await runCli("export", "--complete", "--device", "old", ...directory);
  expect({ code, start: out.slice(0, 4) }).toEqual({ code: 0, start: "PK\u0003\u0004" });
  expect(error).toMatch(/^5 records, [\d,]+ bytes\n$/);
});

describe("through a server", () => {
  async function served(work: (by: (key: string) => string[], url: string) => Promise<void>): Promise<void> {
    const server = await startServer(DATA);
    try {
      await work((key) => ["--url", server.url, "--key", key, "--data-dir", DATA], server.url);
    } finally {
      await server.stop();
    }
  }

  test("it is the archive of the directory, but for the ends of long messages", () =>
    withDirectory(async (root) => {
      const inDirectory = await exported(root, "--user", "anna", ...directory);
      await served(async (by) => {
        const path = join(root, "served.zip");
        const args = ["export", "--complete", "--user", "anna", "--out", path, ...by(keys.edit)];
        const refused = await runCli(...args);
        const ends = "the ends of 1 long message of the quarantine (a server sends the first 64 KiB";
        expect(refused).toMatchObject({ code: 1, out: "" });
        expect(refused.error).toStartWith(`The export would lack ${ends}`);
        const { code, out, error } = await runCli(...args, "--partial");
        expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^11 records, /) });
        expect(error).toContain(`Left out: ${ends}`);
        const files = await filesOf(path);
        const compared = NAMES.filter((name) => !["quarantine.json", "README.txt"].includes(name));
        for (const name of compared) expect([name, files[name]]).toEqual([name, inDirectory[name]]);
        expect(listOf(files, "quarantine.json").map(({ id }) => id)).toEqual(
          listOf(inDirectory, "quarantine.json").map(({ id }) => id),
        );
        expect(files["README.txt"]).toContain("What is missing\n\nLeft out: the ends of 1 long message");
      });
    }));

  test("what the key may not read fails the export, unless parts may be missing", () =>
    withDirectory((root) =>
      served(async (by, url) => {
        const path = join(root, "part.zip");
        const args = ["export", "--complete", "--user", "anna", "--out", path];
        const refused = await runCli(...args, ...by(keys.read));
        expect(refused).toMatchObject({ code: 1, out: "" });
        expect(refused.error).toBe(
          "The export would lack corrections, and records as they were reported (the key may not edit). " +
            "To export the rest give --partial.\n",
        );
        const elsewhere = ["--url", url, "--key", keys.edit, "--data-dir", join(root, "none")];
        expect((await runCli(...args, ...elsewhere)).error).toContain(
          "keys and share links (no endpoint lists",
        );
        expect(readdirSync(root)).toEqual([]);
        const done = await runCli(...args, "--partial", ...by(keys.read));
        expect(done.code).toBe(0);
        expect(done.error).toContain("Left out: corrections, and records as they were reported");
        const files = await filesOf(path);
        expect(Object.keys(files)).toEqual(
          NAMES.filter((name) => name !== "corrections.json" && !name.includes("as-reported")),
        );
        expect(files["README.txt"]).toContain("What is missing\n\nLeft out: corrections");
      }),
    ));

  test("an interrupted export leaves no file", () =>
    withDirectory((root) =>
      served(async (by, url) => {
        const file = join(root, "x.zip");
        // Passes on all requests, but the second file of records never ends.
        let exports = 0;
        const proxy = Bun.serve({
          port: 0,
          async fetch(request) {
            const { pathname, search } = new URL(request.url);
            if (pathname.endsWith("/export") && request.method === "GET" && ++exports > 2)
              return new Response(new ReadableStream({ pull: () => new Promise(() => {}) }));
            const { method, headers } = request;
            const answer = await fetch(url + pathname + search, { method, headers });
            return new Response(answer.body, { status: answer.status }); // Its body is decoded.
          },
        });
        try {
          const args = by(keys.edit).map((arg) => (arg === url ? `http://127.0.0.1:${proxy.port}` : arg));
          const running = beginCli(["export", "--complete", "--device", "old", "--out", file, ...args]);
          await until(() => exports > 2);
          expect(readdirSync(root)).toHaveLength(1);
          const { code, error } = await running.stop();
          expect({ code, error }).toEqual({
            code: 1,
            error: "Interrupted: the unfinished file was removed.\n",
          });
          expect(readdirSync(root)).toEqual([]);
        } finally {
          await proxy.stop(true);
        }
      }),
    ));
});
