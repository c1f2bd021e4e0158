import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { bench } from "../../../../bench/benches/near/peers.ts";
import { compareAnswers } from "../../../../bench/support/peers/compare.ts";
import { findProgram, makeDirectory, startDaemon } from "../../../../bench/support/peers/daemon.ts";
import { runBench } from "../../../../bench/support/run/bench-run.ts";

/** Devices named by their distance in meters. */
function compare(ours: readonly number[], theirs: readonly number[], page = 4) {
  return compareAnswers({
    ours: ours.map(String),
    theirs: theirs.map(String),
    radiusMeters: 100,
    page,
    distanceMeters: Number,
  });
}

test("compareAnswers() counts the devices in common, and lets the edge of a page or of the radius differ", () => {
  expect(compare([1, 2, 3], [1, 2, 3])).toEqual({ devices: 3, common: 3 });
  expect(compare([1, 2, 3, 50], [1, 2, 3, 52])).toEqual({ devices: 4, common: 3 });
  expect(compare([1, 2, 98], [1, 2])).toEqual({ devices: 3, common: 2 });
});

test("compareAnswers() throws where a device is missing, too many, twice or out of order", () => {
  expect(() => compare([1, 2, 3, 50], [1, 2, 50])).toThrow("in one answer alone");
  expect(() => compare([1, 2], [1, 2, 60])).toThrow("in one answer alone");
  expect(() => compare([1, 2], [1, 2, 2])).toThrow("twice");
  expect(() => compare([1, 50, 60], [1, 60, 50])).toThrow("farther away");
});

const DAEMON = join(import.meta.dir, "../../../../bench/support/peers/daemon.ts");
const SERVER = `
  Bun.listen({ hostname: "127.0.0.1", port: Number(process.argv.at(-1)), socket: { data(socket, bytes) { socket.write(bytes) } } });
`;

test("startDaemon() starts a program on a port, and takes it and its directory away again", async () => {
  const directory = makeDirectory("peer-test");
  const started = await startDaemon({
    directory,
    argv: (port) => [process.execPath, "-e", SERVER, String(port)],
    stopSignal: "SIGTERM",
    async greet(port) {
      (await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } })).end();
    },
  });
  if (!started.ok) throw new Error(started.error);
  expect(existsSync(directory)).toBe(true);
  process.kill(started.value.pid, 0);
  await started.value.stop();
  expect(existsSync(directory)).toBe(false);
  expect(() => process.kill(started.value.pid, 0)).toThrow();
});

test("startDaemon() tells what a program said that doesn't start, and removes its directory", async () => {
  const directory = makeDirectory("peer-test");
  const started = await startDaemon({
    directory,
    argv: () => [process.execPath, "-e", "console.error('no such option'); process.exit(1)"],
    stopSignal: "SIGTERM",
    greet: () => Promise.reject(new Error("not there")),
  });
  expect(started).toEqual({ ok: false, error: "no such option" });
  expect(existsSync(directory)).toBe(false);
});

test("startDaemon() leaves nothing behind where the bench is interrupted", async () => {
  const directory = makeDirectory("peer-test");
  const script = `
    import { startDaemon } from ${JSON.stringify(DAEMON)};
    const started = await startDaemon({
      directory: ${JSON.stringify(directory)},
      argv: (port) => [process.execPath, "-e", ${JSON.stringify(SERVER)}, String(port)],
      stopSignal: "SIGTERM",
      greet: async () => {},
    });
    console.log(started.value.pid);
    setInterval(() => {}, 1000);`;
  const bencher = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
  const { value } = await bencher.stdout.getReader().read();
  const pid = Number(new TextDecoder().decode(value));
  bencher.kill("SIGINT");
  expect(await bencher.exited).toBe(130);
  expect(existsSync(directory)).toBe(false);
  expect(() => process.kill(pid, 0)).toThrow();
});

async function runSmoke(): Promise<string> {
  const lines: string[] = [];
  await runBench({ bench, isSmoke: true, given: new Map(), print: (line) => lines.push(line) });
  return lines.join("\n");
}

test("the bench measures each peer or says how to install it", async () => {
  const out = await runSmoke();
  for (const [name, figure] of [
    ["Redis", "Redis GEOSEARCH"],
    ["Tile38", "Tile38 NEARBY"],
    ["PostGIS", "PostGIS KNN"],
    ["geokdbush", "geokdbush, rebuilt every second"],
  ] as const) {
    const isMeasured = new RegExp(`^ *${figure} +[\\d.,]+ answers/s`, "m").test(out);
    const isMeasuredBesideWrites = new RegExp(`^ *${figure}, moves taken +[\\d.,]+ moves/s`, "m").test(out);
    const isLeftOut = new RegExp(`^ *${name}: left out: .+`, "m").test(out);
    expect({ name, isMeasured, isLeftOut }).toEqual({ name, isMeasured, isLeftOut: !isMeasured });
    expect({ name, isMeasuredBesideWrites }).toEqual({ name, isMeasuredBesideWrites: isMeasured });
  }
});

test("the bench runs where no peer is in the PATH", async () => {
  const { PATH } = process.env;
  process.env.PATH = "";
  try {
    expect(findProgram("redis-server")).toBe(null);
    const out = await runSmoke();
    expect(out).toContain("Redis: left out: no redis-server in the PATH; Debian: apt install redis-server");
    expect(out).toContain("Tile38: left out: no tile38-server in the PATH; go install");
    expect(out).toMatch(/wherehouse +[\d.,]+ answers\/s/);
  } finally {
    process.env.PATH = PATH;
  }
});
