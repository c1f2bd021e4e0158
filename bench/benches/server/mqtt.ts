import mqtt, { type MqttClient } from "mqtt";
import { type Figure, median } from "../../support/figures/report.ts";
import { takeCores } from "../../support/http/cores.ts";
import type { Daemon } from "../../support/peers/daemon.ts";
import { startMosquitto } from "../../support/peers/mosquitto.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import { measureLoad, postRequest } from "../../support/servers/load.ts";
import {
  type ServerProcess,
  startProcess,
  startWherehouse,
  type WherehouseProcess,
} from "../../support/servers/server.ts";

const PHONES = 50;

/** The topic prefix of the single connection; several use `many0`, `many1` and so on. */
const ONE = "one";
const CONTROL = "control";

export const bench: Bench = {
  question:
    "messages of a broker, durable before each is acknowledged: one connection, several, a subscriber that keeps none, and HTTP one by one",
  sizes: {
    messages: { help: "messages a round", smoke: 200, full: 10_000 },
    connections: { help: "connections where there are several", smoke: 2, full: 8 },
    rounds: { help: "times that each way is taken", smoke: 1, full: 5 },
  },
  async run(run) {
    const cores = takeCores();
    const broker = await startMosquitto();
    const server = await startWherehouse(
      undefined,
      cores.serverLauncher,
      broker.ok ? flagsOf(broker.value, run) : [],
    );
    try {
      if (broker.ok) await compare(run, broker.value, server);
      else {
        run.note(`MQTT left out: ${broker.error}`);
        const runs = [await sendOverHttp(server, run.size("messages"), 0)];
        run.figures([{ name: "HTTP, one connection, one by one", unit: "messages/s", runs }]);
      }
      run.note(cores.text);
    } finally {
      await server.stop();
      if (broker.ok) await broker.value.stop();
      cores.release();
    }
  },
};

function manyOf(run: BenchRun): string[] {
  return Array.from({ length: run.size("connections") }, (_, index) => `many${index}`);
}

function flagsOf({ port }: Daemon, run: BenchRun): string[] {
  const topics = [ONE, ...manyOf(run)].flatMap((root) => ["--mqtt-topic", `${root}/+/+`]);
  return ["--mqtt", `mqtt://127.0.0.1:${port}`, "--mqtt-app", "default", ...topics];
}

async function compare(run: BenchRun, { port }: Daemon, server: WherehouseProcess): Promise<void> {
  const bare = await startProcess([
    process.execPath,
    "bench/support/servers/bare-subscriber.ts",
    String(port),
    `${CONTROL}/+/+`,
  ]);
  const phones = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`);
  const [messages, rounds] = [run.size("messages"), run.size("rounds")];
  const many = manyOf(run);
  const runs = { one: [] as number[], many: [] as number[], control: [] as number[], http: [] as number[] };
  try {
    await untilSubscribed(phones, server, [ONE, ...many]);
    let published = 0;
    for (let round = -1; round < rounds; round++) {
      const count = round < 0 ? Math.ceil(messages / 10) : messages; // The first round warms up.
      const control = await perSecond(count, async () => {
        await publish(phones, [CONTROL], count, round);
        published += count;
        await untilCounted(bare, published);
      });
      const one = await perSecond(count, () => publishAndWait(phones, server, [ONE], count, round));
      const several = await perSecond(count, () => publishAndWait(phones, server, many, count, round));
      const http = await sendOverHttp(server, count, round);
      if (round < 0) continue;
      runs.control.push(control);
      runs.one.push(one);
      runs.many.push(several);
      runs.http.push(http);
    }
  } finally {
    await phones.endAsync();
    await bare.stop();
  }
  tell(run, runs, many.length);
}

function tell(
  run: BenchRun,
  runs: Readonly<Record<"one" | "many" | "control" | "http", number[]>>,
  many: number,
): void {
  const figure = (name: string, values: readonly number[]): Figure => ({
    name,
    unit: "messages/s",
    runs: values,
  });
  const one = figure("MQTT, one connection", runs.one);
  const several = figure(`MQTT, ${many} connections`, runs.many);
  const control = figure("a subscriber that keeps none", runs.control);
  const http = figure("HTTP, one connection, one by one", runs.http);
  run.figures([one, several, control, http]);
  run.ratio("MQTT, of a subscriber that keeps none", one, control);
  run.ratio("MQTT, of HTTP one by one", one, http);
  run.verdict("MQTT, one connection", median(runs.one), "messages/s", {
    atLeast: 1000,
  });
}

async function perSecond(count: number, work: () => Promise<void>): Promise<number> {
  const startMs = performance.now();
  await work();
  return count / ((performance.now() - startMs) / 1000);
}

/** Publishes positions on topics of these roots in turn; resolves when the broker has them. */
async function publish(
  phones: MqttClient,
  roots: readonly string[],
  count: number,
  round: number,
): Promise<void> {
  const sent: Promise<unknown>[] = [];
  for (let index = 0; index < count; index++) {
    const root = roots[index % roots.length]!;
    const phone = Math.floor(index / roots.length) % PHONES;
    const body = bodyOf(timestampSeconds(round, Math.floor(index / PHONES / roots.length)));
    sent.push(phones.publishAsync(`${root}/${root}-${phone}/pixel`, body, { qos: 1 }));
  }
  await Promise.all(sent);
}

/** Publishes, and waits until the server shows the last message of each connection. */
async function publishAndWait(
  phones: MqttClient,
  server: WherehouseProcess,
  roots: readonly string[],
  count: number,
  round: number,
): Promise<void> {
  await publish(phones, roots, count - roots.length, round);
  const user = `last${round < 0 ? "-of-all" : round}`;
  for (const root of roots)
    await phones.publishAsync(`${root}/${root}-${user}/pixel`, bodyOf(timestampSeconds(round, 0)), {
      qos: 1,
    });
  for (const root of roots) {
    while (!(await hasDevice(server, `${root}-${user}:pixel`))) await Bun.sleep(2);
  }
}

async function untilCounted({ url }: ServerProcess, count: number): Promise<void> {
  while (Number(await (await fetch(url)).text()) < count) await Bun.sleep(2);
}

/** Waits until the server has subscribed; before, the broker stores nothing for it. */
async function untilSubscribed(
  phones: MqttClient,
  server: WherehouseProcess,
  roots: readonly string[],
): Promise<void> {
  for (const root of roots) {
    while (!(await hasDevice(server, `${root}-first:pixel`))) {
      await phones.publishAsync(`${root}/${root}-first/pixel`, bodyOf(timestampSeconds(0, 0)), { qos: 1 });
      await Bun.sleep(50);
    }
  }
}

async function hasDevice({ url, key }: WherehouseProcess, deviceId: string): Promise<boolean> {
  const path = `/api/v1/devices/${encodeURIComponent(deviceId)}/locations/current`;
  const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
  return answer.status === 200;
}

/** Sends the positions in our own format, on one connection that waits for each answer. */
async function sendOverHttp({ url, key }: WherehouseProcess, count: number, round: number): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  let sent = 0;
  const next = () => {
    if (sent === count) return null;
    const timestamp = timestampSeconds(round, Math.floor(sent / PHONES)) * 1000;
    const report = { device_id: `http-${sent++ % PHONES}`, timestamp, latitude: 52.5, longitude: 13.4 };
    const body = new TextEncoder().encode(JSON.stringify(report));
    return postRequest(`${url}/ingest/v1/locations`, headers, body);
  };
  return (await measureLoad({ url, connections: 1, next })).requestsPerSecond;
}

/** Rounds are hours apart, so that no report is repeated. */
function timestampSeconds(round: number, step: number): number {
  return Math.floor(START_MS / 1000) + (round + 1) * 3600 + step;
}

const START_MS = Date.now() - 86_400_000;

function bodyOf(timestamp: number): string {
  return JSON.stringify({
    _type: "location",
    acc: 12,
    alt: 40,
    batt: 81,
    bs: 1,
    conn: "m",
    lat: 52.520_008,
    lon: 13.404_954,
    m: 2,
    t: "u",
    tid: "p7",
    tst: timestamp,
    vac: 3,
    vel: 27,
  });
}
