import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Figure, median } from "../../support/figures/report.ts";
import type { Bench } from "../../support/run/bench.ts";

/** Without npm, Bun runs the same script. */
const START = Bun.which("npm") === null ? ["bun", "run", "start"] : ["npm", "start", "--silent", "--"];

const ROOT = join(import.meta.dir, "../../..");

export const bench: Bench = {
  question:
    "npm start on a warm clone: how long until the first answer, against starting a bare Bun.serve the same way?",
  sizes: {
    rounds: { help: "times that each is started", smoke: 1, full: 7 },
  },
  async run(run) {
    const rounds = run.size("rounds");
    const ours: number[] = [];
    const control: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const port = freePort();
      const dataDir = mkdtempSync(join(tmpdir(), "wherehouse-start-"));
      const bare = `Bun.serve({ hostname: "127.0.0.1", port: ${port}, fetch: () => new Response("{}") })`;
      control.push(await secondsToAnswer(port, [process.execPath, "-e", bare]));
      const flags = ["--port", String(port), "--data-dir", dataDir];
      ours.push(await secondsToAnswer(port, [...START, ...flags]));
      rmSync(dataDir, { recursive: true });
    }
    const figures: Figure[] = [
      { name: "npm start, empty directory", unit: "s", runs: ours },
      { name: "bun -e 'Bun.serve(...)'", unit: "s", runs: control },
    ];
    run.figures(figures);
    run.verdict("npm start", median(ours), "s", { atMost: 1 });
  },
};

/** Starts the command, and polls /ready until it answers 200. */
async function secondsToAnswer(port: number, command: readonly string[]): Promise<number> {
  const startMs = performance.now();
  const child = Bun.spawn([...command], { cwd: ROOT, stdout: "ignore", stderr: "ignore" });
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`${command.join(" ")} ended with ${child.exitCode}`);
    await Bun.sleep(2);
  }
  const seconds = (performance.now() - startMs) / 1000;
  child.kill("SIGTERM");
  await child.exited;
  while (await answers(port)) await Bun.sleep(10); // Waits until the port is free.
  return seconds;
}

async function answers(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/ready`)).ok;
  } catch {
    return false;
  }
}

/** A free port. */
function freePort(): number {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const port = server.port!;
  server.stop(true);
  return port;
}
