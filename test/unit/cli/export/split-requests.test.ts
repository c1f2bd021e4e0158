import { afterEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createKeyText } from "../../../../src/auth/api-key.ts";
import { runCli, withDirectory } from "../support/run-cli.ts";

/** Which requests a split export makes of a server that has records of a few days, years apart. */

const DAYS = ["2011-12-30", "2011-12-31", "2020-02-29", "2024-06-01"];
const LIST = "/api/v1/locations/current/columns";
const APP = "/api/v1/locations/current";

let requests: string[] = [];
let server: ReturnType<typeof Bun.serve> | null = null;
afterEach(() => server?.stop(true));

/** `answers` come first, in order. */
function serve(answers: Response[] = []): string {
  requests = [];
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === LIST) {
        requests.push("list");
        return Response.json({ success: true, app_id: "shop", device_id: ["a", "b", "c"] });
      }
      if (pathname === APP) {
        requests.push("app");
        return Response.json({ success: true, app_id: "shop", locations: [] });
      }
      const [format, from, to] = ["format", "start_date", "end_date"].map((name) => searchParams.get(name)!);
      requests.push(`${format} ${from}..${to}`);
      const answer = answers.shift();
      if (answer !== undefined) return answer;
      const days = DAYS.filter((day) => day >= from! && day <= to!);
      const lines = days.map((day) => ({ device_id: "a", timestamp: Date.parse(`${day}T12:00Z`) }));
      if (format === "parquet") return new Response("PAR1");
      if (format === "ndjson") return new Response(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
      return new Response(["header", ...lines.map(({ timestamp }) => timestamp)].join("\r\n").concat("\r\n"));
    },
  });
  return `http://127.0.0.1:${server.port}`;
}

async function exportSplit(
  url: string,
  format: string,
  split: string,
  out: string,
  more: readonly string[] = [],
): Promise<void> {
  const range = ["--from", "2010-01-01", "--to", "2025-12-31"];
  const where = ["--url", url, "--key", createKeyText(), "--out", out];
  const { code, error } = await runCli(
    ...["export", "--format", format, "--split", split, ...range, ...where, ...more],
  );
  expect({ code, error }).toMatchObject({ code: 0 });
}

describe("days and months without records", () => {
  test("are skipped, however many there are", () =>
    withDirectory(async (root) => {
      await exportSplit(serve(), "csv", "day", root);
      expect(readdirSync(root).sort()).toEqual(DAYS.map((day) => `${day}.csv`));
      expect(requests).toEqual([
        "ndjson 2010-01-01..2025-12-31",
        "csv 2011-12-30..2011-12-30",
        "csv 2011-12-31..2011-12-31",
        "csv 2012-01-01..2012-01-01",
        "ndjson 2012-01-02..2025-12-31",
        "csv 2020-02-29..2020-02-29",
        "csv 2020-03-01..2020-03-01",
        "ndjson 2020-03-02..2025-12-31",
        "csv 2024-06-01..2024-06-01",
        "csv 2024-06-02..2024-06-02",
        "ndjson 2024-06-03..2025-12-31",
      ]);
    }));

  test("have no file in a format whose records can't be counted either", () =>
    withDirectory(async (root) => {
      await exportSplit(serve(), "parquet", "month", root);
      expect(readdirSync(root).sort()).toEqual(["2011-12.parquet", "2020-02.parquet", "2024-06.parquet"]);
      expect(requests).toContain("parquet 2011-12-01..2011-12-31");
    }));
});

test("a server that is busy is asked again", () =>
  withDirectory(async (root) => {
    const busy = (status: number) =>
      Response.json({ success: false, message: "later" }, { status, headers: { "retry-after": "0" } });
    await exportSplit(serve([busy(503), busy(429)]), "csv", "month", root);
    expect(readdirSync(root).sort()).toEqual(["2011-12.csv", "2020-02.csv", "2024-06.csv"]);
    expect(requests.slice(0, 3)).toEqual(Array(3).fill("ndjson 2010-01-01..2025-12-31"));
    expect(readFileSync(join(root, "2011-12.csv"), "utf8").split("\r\n")).toHaveLength(4);
  }));

test("the devices of a split by device come in one answer", () =>
  withDirectory(async (root) => {
    await exportSplit(serve(), "csv", "device", root);
    expect(requests.filter((request) => request === "list")).toEqual(["list"]);
    expect(readdirSync(root).sort()).toEqual(["a.csv", "b.csv", "c.csv"]);
  }));

test("the app that was named is asked for once, however many files there are", () =>
  withDirectory(async (root) => {
    await exportSplit(serve(), "csv", "day", root, ["--app", "shop"]);
    expect(readdirSync(root)).toHaveLength(DAYS.length);
    expect(requests.filter((request) => request === "app")).toEqual(["app"]);
  }));
