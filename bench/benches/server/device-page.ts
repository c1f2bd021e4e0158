import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Figure } from "../../support/figures/report.ts";
import { createFleet, type FullReport } from "../../support/fleets/fleet.ts";
import { createRandom, pick } from "../../support/fleets/random.ts";
import type { Bench } from "../../support/run/bench.ts";
import { forSeconds, getRequest, measureLoad, postRequest } from "../../support/servers/load.ts";
import { startBareServer, startWherehouse, type WherehouseProcess } from "../../support/servers/server.ts";

const CONNECTIONS = 16;
const LIMIT = 100;
const MS_PER_DAY = 86_400_000;

export const bench: Bench = {
  question:
    "a device-day page of 100 full records from memory over HTTP, devices at random, against a bare server that sends the same bytes",
  sizes: {
    devices: { help: "devices that report", smoke: 20, full: 2000 },
    reports: { help: "reports of each device", smoke: 110, full: 250 },
    rounds: { help: "times that each server is asked", smoke: 5, full: 5 },
    seconds: { help: "that each server is asked in a round", smoke: 0.2, full: 4 },
    seed: { help: "of the fleet", smoke: 2, full: 2 },
  },
  async run(run) {
    const devices = run.size("devices");
    const rounds = run.size("rounds");
    const seconds = run.size("seconds");
    const yesterdayMs = Math.floor(Date.now() / MS_PER_DAY) * MS_PER_DAY - MS_PER_DAY;
    const directory = mkdtempSync(join(tmpdir(), "wherehouse-page-"));
    const wherehouse = await startWherehouse();
    try {
      const fleet = createFleet({ devices, seed: run.size("seed"), startMs: yesterdayMs, stepMs: 60_000 });
      const reports = Array.from({ length: run.size("reports") }, (_, round) => fleet.round(round));
      await load(wherehouse, reports);
      const date = new Date(yesterdayMs).toISOString().slice(0, 10);
      const ids = reports[0]!.map((report) => String(report.device_id));
      const headers = { authorization: `Bearer ${wherehouse.key}` };
      const urls = ids.map(
        (id) =>
          `${wherehouse.url}/api/v1/devices/${id}/locations/history?start_date=${date}&end_date=${date}&limit=${LIMIT}`,
      );
      const body = await checkAnswer(
        urls[0]!,
        headers,
        reports.map((round) => round[0]!),
      );
      const file = join(directory, "body.json");
      writeFileSync(file, body);
      const bare = await startBareServer("bytes", file);
      try {
        const random = createRandom(3);
        const questions = urls.map((url) => getRequest(url, headers));
        const same = getRequest(`${bare.url}/`, headers);
        const ours: number[] = [];
        const control: number[] = [];
        for (let round = 0; round < rounds; round++) {
          const bareLoad = { url: bare.url, connections: CONNECTIONS, next: forSeconds(seconds, () => same) };
          control.push((await measureLoad(bareLoad)).requestsPerSecond);
          const ourLoad = {
            url: wherehouse.url,
            connections: CONNECTIONS,
            next: forSeconds(seconds, () => pick(random, questions)),
          };
          ours.push((await measureLoad(ourLoad)).requestsPerSecond);
        }
        const figures: [Figure, Figure] = [
          {
            name: "wherehouse",
            unit: "requests/s",
            runs: ours,
          },
          { name: "bare, the same bytes", unit: "requests/s", runs: control },
        ];
        run.note(`pages of ${body.length.toLocaleString("en")} bytes`);
        run.figures(figures);
        run.ratio("share of the bare server", ...figures, { atLeast: 0.3 });
      } finally {
        await bare.stop();
      }
    } finally {
      await wherehouse.stop();
      rmSync(directory, { recursive: true });
    }
  },
};

async function load({ url, key }: WherehouseProcess, rounds: readonly FullReport[][]): Promise<void> {
  const bodies = rounds.map((locations) => new TextEncoder().encode(JSON.stringify({ locations })));
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  let sent = 0;
  const next = () => {
    const body = bodies[sent++];
    return body === undefined ? null : postRequest(`${url}/ingest/v1/locations`, headers, body);
  };
  await measureLoad({ url, connections: 4, next });
}

/** Checks that the first page of a device has its first reports, value for value. */
async function checkAnswer(
  url: string,
  headers: Record<string, string>,
  reports: readonly FullReport[],
): Promise<Uint8Array> {
  const body = new Uint8Array(await (await fetch(url, { headers })).arrayBuffer());
  const { locations } = JSON.parse(new TextDecoder().decode(body)) as {
    locations: Record<string, unknown>[];
  };
  const shown = locations.map(({ id, appId, ...fields }) => fields);
  if (!Bun.deepEquals(shown, reports.slice(0, LIMIT))) throw new Error("the page is not what was reported");
  return body;
}
