import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCli, startServer, withDirectory } from "../support/run-cli.ts";

/** `export --originals` in a directory and through a server: the same files, whatever corrections hide. */

const DAY_MS = 86_400_000;
const START_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS - 10 * DAY_MS;

/** A bus and a tram, each an hour, on an archived day and a later one. */
const REPORTS = ["bus", "tram"].flatMap((device_id) =>
  [0, 9].flatMap((day) =>
    Array.from({ length: 12 }, (_, step) => ({
      device_id,
      timestamp: START_MS + day * DAY_MS + step * 300_000,
      latitude: 53 + step / 1000,
      longitude: -3,
    })),
  ),
);

async function succeed(...args: string[]): Promise<string> {
  const { code, out, error } = await runCli(...args);
  expect({ code, error }).toMatchObject({ code: 0 });
  return out;
}

test("export --originals has what was reported, by directory and by server", () =>
  withDirectory(async (root) => {
    const data = ["--data-dir", join(root, "data")];
    const directory = [...data, "--app", "shop"];
    const file = join(root, "reports.ndjson");
    writeFileSync(file, REPORTS.map((report) => `${JSON.stringify(report)}\n`).join(""));
    await succeed("import", file, ...directory);
    await succeed("seal", ...data);
    const write = async (name: string, ...args: string[]) => {
      await succeed("export", "--format", "ndjson", "--out", join(root, name), ...args);
      return readFileSync(join(root, name), "utf8");
    };
    const before = await write("before.ndjson", ...directory);
    const range = ["--from", new Date(START_MS).toISOString(), "--to", new Date().toISOString()];
    await succeed("corrections", "hide", "bus", ...range, ...directory);
    await succeed("corrections", "hide", "tram", "--at", String(REPORTS.at(-1)!.timestamp), ...directory);
    expect((await write("shown.ndjson", ...directory)).trim().split("\n")).toHaveLength(23);
    expect(await write("originals.ndjson", "--originals", ...directory)).toBe(before);

    const keyOf = async (...permissions: string[]) => {
      const flags = permissions.flatMap((permission) => ["--permission", permission]);
      return (await succeed("keys", "create", "--app", "shop", ...flags, ...data)).trim();
    };
    const [reader, editor] = [await keyOf("read"), await keyOf("read", "edit")];
    const server = await startServer(join(root, "data"));
    const by = (key: string) => ["--url", server.url, "--key", key];
    expect(await write("served.ndjson", "--originals", ...by(editor))).toBe(before);
    const split = ["--split", "device", "--out", join(root, "split")];
    await succeed("export", "--format", "gpx", "--originals", ...split, ...by(editor));
    expect(readdirSync(join(root, "split")).sort()).toEqual(["bus.gpx", "tram.gpx"]);
    const refused = await runCli("export", "--format", "csv", "--originals", ...by(reader));
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.error).toContain("answered 403");
    await server.stop();

    const again = ["--split", "device", "--out", join(root, "again")];
    await succeed("export", "--format", "gpx", "--originals", ...again, ...directory);
    for (const name of ["bus.gpx", "tram.gpx"])
      expect(readFileSync(join(root, "again", name))).toEqual(readFileSync(join(root, "split", name)));
  }));
