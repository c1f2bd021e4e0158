import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parseCommand } from "../../../../src/cli/parse-command.ts";
import { streetsFile } from "../../map/fixture.ts";
import { createRangeServer, type RangeServer } from "../../map/streets/range-server.ts";
import { beginCli, withDirectory } from "../support/run-cli.ts";

let remote: RangeServer;
let listener: Bun.Server<undefined>;
beforeEach(() => {
  remote = createRangeServer(streetsFile());
  listener = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => remote.answer(request) });
});
afterEach(() => listener.stop(true));

const AREA = ["--bbox", "-71.08,42.35,-71.06,42.37"];

/** Runs the command as on a terminal on which a person types the answer. */
function fetchMap(dataDir: string, args: readonly string[], answer: string | null = null) {
  const from = `http://127.0.0.1:${listener.port}/planet.pmtiles?token=secret`;
  const readTypedLine = async (ask: () => void) => {
    ask();
    return answer;
  };
  return beginCli(["map", "fetch", "--from", from, ...args, "--data-dir", dataDir], {
    platform: { readTypedLine },
  });
}

test("the overview comes before the question, and only a yes copies", () =>
  withDirectory(async (directory) => {
    const dataDir = join(directory, "data");
    for (const answer of ["", "n", "no", null]) {
      const { code, out, error } = await fetchMap(dataDir, AREA, answer).ended;
      expect([code, out]).toEqual([1, ""]);
      expect(error).toMatch(
        /\d+ tiles of zooms 0 to 14, .+ MB in \d+ requests? from http.+\n.+\nCopy them\? \[y\/N\] /,
      );
      expect(error).toContain("Nothing was copied");
      expect(error).not.toContain("secret");
      expect(existsSync(dataDir)).toBe(false);
    }
    const copied = await fetchMap(dataDir, [...AREA, "--max-zoom", "12"], "Y").ended;
    expect(copied).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Copied \d+ tiles \(.+ MB\) to .+pmtiles\./),
    });
    expect(copied.error).toContain("of zooms 0 to 12");
    expect(copied.error).toContain("Created data directory");
    expect(readdirSync(join(dataDir, "map")).filter((name) => name.endsWith(".pmtiles"))).toEqual([
      "box_-71.08_42.35_-71.06_42.37.pmtiles",
    ]);
  }));

test("a place that is unknown or ambiguous ends it before anything is asked of the server", () =>
  withDirectory(async (directory) => {
    const unknown = await fetchMap(directory, ["--near", "Livrepool, GB"]).ended;
    expect(unknown).toMatchObject({ code: 2, error: expect.stringContaining("Similar names: Liverpool") });
    const ambiguous = await fetchMap(directory, ["--near", "Liverpool"]).ended;
    expect(ambiguous).toMatchObject({ code: 2, error: expect.stringContaining("\nLiverpool, GB ") });
    expect(remote.requests).toEqual([]);
  }));

test("a request to stop ends the copy, which the same command continues", () =>
  withDirectory(async (directory) => {
    const { promise: isReached, resolve: reached } = Promise.withResolvers<void>();
    const stuck = new ReadableStream({ pull: () => reached() });
    // The tiles are the last bytes of the archive.
    remote.intercept = (first, last) =>
      first === 0 || last < 3000
        ? null
        : new Response(stuck, {
            status: 206,
            headers: { "content-range": `bytes ${first}-${last}/${remote.bytes.length}`, etag: '"1"' },
          });
    const command = fetchMap(directory, [...AREA, "--yes"]);
    await isReached;
    expect(await command.stop()).toMatchObject({
      code: 1,
      error: expect.stringContaining("Interrupted. The same command continues."),
    });
    remote.intercept = () => null;
    expect(await fetchMap(directory, [...AREA, "--yes"]).ended).toMatchObject({ code: 0 });
  }));

describe("the command line", () => {
  const parsed = (...args: string[]) => {
    const command = parseCommand(["map", "fetch", ...args], {});
    return command.ok ? command.value.options : command.error.message;
  };
  const FROM = ["--from", "https://maps.example.org/planet.pmtiles"];

  test("has an area around a place or in a box", () => {
    expect(parsed(...FROM, "--near", "Liverpool, GB", "--radius", "30km", "--max-zoom", "14")).toEqual({
      dataDir: "data/local",
      url: FROM[1],
      area: { kind: "near", place: "Liverpool, GB", radiusMeters: 30_000 },
      maxZoom: 14,
      yes: false,
    });
    expect(parsed(...FROM, "--near", "Bath")).toMatchObject({ area: { radiusMeters: 20 * 1609.344 } });
    expect(parsed(...FROM, "--bbox", "-3.2,53.2,-2.7,53.6", "--yes")).toMatchObject({
      area: { kind: "box", bounds: [-3.2, 53.2, -2.7, 53.6] },
      yes: true,
    });
  });

  test.each([
    [[...FROM], "map fetch needs --near or --bbox"],
    [["--near", "Bath"], "map fetch needs --from"],
    [[...FROM, "--near", "Bath", "--bbox", "1,2,3,4"], "--near and --bbox exclude each other"],
    [[...FROM, "--bbox", "170,-20,-170,-10"], "--bbox must be west, south, east and north in degrees"],
    [[...FROM, "--bbox", "1,2,3"], "--bbox must be west, south, east and north in degrees"],
    [[...FROM, "--radius", "20mi"], "--radius goes with --near"],
    [[...FROM, "--near", "Bath", "--radius", "20"], "--radius must be a distance such as 20mi or 30km"],
    [[...FROM, "--near", "Bath", "--max-zoom", "27"], "--max-zoom must be a whole number from 0 to 26"],
    [
      ["--from", "https://me:secret@h/a", "--near", "Bath"],
      "--from must be the address of a PMTiles archive",
    ],
    [["--from", "file:///a", "--near", "Bath"], "--from must be the address of a PMTiles archive"],
  ])("refuses %p", (args, message) => {
    expect(parsed(...args)).toStartWith(message);
    expect(parsed(...args)).not.toContain("secret");
  });
});
