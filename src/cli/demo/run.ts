import { fileURLToPath } from "node:url";
import { type App, openApp } from "../../app/app.ts";
import { FIRST_APP } from "../../app/first-key.ts";
import { directoryPaths } from "../../directory/paths.ts";
import { DirectoryInUseError } from "../../directory/take-directory.ts";
import type { Deliver } from "../../import/deliver.ts";
import { createPostDelivery } from "../../import/post.ts";
import { spoolDirectoryFor } from "../../import/sources/sources.ts";
import { assert } from "../../lib/assert.ts";
import { messageOf } from "../../lib/message-of.ts";
import { systemTimers, wait } from "../../lib/schedule/timers.ts";
import { printableLine } from "../../lib/text/printable.ts";
import { openBaseMap } from "../../map/base-map.ts";
import { UNBOUND } from "../../model/binding.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import type { Clock } from "../../model/time/clock.ts";
import { askServer } from "../../operator/remote/ask-server.ts";
import type { Inputs } from "../../runtime/inputs.ts";
import type { Platform } from "../../runtime/platform.ts";
import type { CommandContext } from "../arguments/command.ts";
import { openKeys } from "../keys/keys.ts";
import { createEventLog } from "../screen/event-log.ts";
import { countOf } from "../screen/layout.ts";
import { logEvents } from "../screen/server-events.ts";
import { stopInTime } from "../serve/run.ts";
import { mapLink } from "../serve/sign-in.ts";
import type { DemoOptions } from "./command.ts";
import { Land } from "./land.ts";
import { readRecording } from "./read-recording.ts";
import type { Recording } from "./recording.ts";
import { type KnownDevice, Replay } from "./replay.ts";
import { MOMENT_MS_MAX, prolong } from "./voyages.ts";

const SAMPLES = [
  "ais_denmark_20100611.csv.gz",
  "bus_liverpool_route14_20260126.csv.gz",
  "gpx_limerick_bus304_20190218.csv.gz",
].map((name) => fileURLToPath(import.meta.resolve(`../../../data/samples/${name}`)));

/** The Danish straits, where most ships of the samples are. */
const SAMPLES_VIEW = "?at=55.85,12.2,7.5";

/** How often devices report, however fast they move. */
const STEP_MS = 250;

/** Serves, and replays recordings into the server, until the process must stop; returns the exit code. */
export async function demo(
  command: DemoOptions,
  { platform, clock, terminal, stopSignal }: CommandContext,
): Promise<number> {
  const { config, speed } = command;
  const signal = stopSignal();
  const log = createEventLog("warn", terminal);
  const crash = platform.exitOnCrash((err) =>
    log.fatal({ event: "crash", err }, `A bug stopped the demo: ${messageOf(err)}`),
  );
  const recordings = await readRecordings(command, platform, signal);
  const key = await demoKey(config.dataDir, platform, clock);
  const say = (line: string) => terminal.error(`${printableLine(line)}\n`);
  let app: App;
  try {
    app = await openApp(config, platform, clock, logEvents(log, performance.now(), crash));
  } catch (error) {
    if (!(error instanceof DirectoryInUseError)) throw error;
    say(`${error.message} Stop it with Ctrl-C, or give this demo another directory with --data-dir.`);
    return 1;
  }
  const endQuiet = platform.quietHelpers();
  try {
    await app.ready;
    const replay = new Replay(recordings, await fetchKnownDevices(app.url, key), speed, clock.nowMs());
    const report = createReporter(deliveryTo(app, key, signal, say), say);
    await report(replay.history());
    const code = terminal.outIsTerminal ? await app.createLinkCode() : null;
    terminal.out(announcement(app, code, replay, command));
    while (!signal.aborted) {
      await wait(STEP_MS, signal);
      await report(replay.advance(clock.nowMs()));
    }
    return 0;
  } catch (error) {
    if (!(error instanceof UndeliveredError)) throw error;
    if (signal.aborted) return 0;
    say(error.message);
    return 1;
  } finally {
    endQuiet();
    await stopInTime(app, log, systemTimers);
  }
}

/** Each sample is a recording with its own middle; all files at the operator's path are one recording. */
async function readRecordings(
  { config, path }: DemoOptions,
  { files, inputs }: Platform,
  signal: AbortSignal,
): Promise<readonly Recording[]> {
  const spoolDirectory = await spoolDirectoryFor(config.dataDir, files);
  const paths = path === null ? SAMPLES : [path];
  const recordings: Recording[] = [];
  for (const each of paths)
    recordings.push(await readRecording({ inputs, path: each, spoolDirectory, signal }));
  return path === null ? prolongMoments(recordings, inputs) : recordings;
}

/** Ships were recorded for half a minute: the demo goes on from there. */
async function prolongMoments(recordings: readonly Recording[], inputs: Inputs): Promise<Recording[]> {
  const { world, close } = await openBaseMap(inputs, null);
  try {
    const land = new Land(world);
    const isMoment = ({ startMs, endMs }: Recording) => endMs - startMs <= MOMENT_MS_MAX;
    return await Promise.all(recordings.map((each) => (isMoment(each) ? prolong(each, land) : each)));
  } finally {
    await close();
  }
}

/** The key that the demo reports with: the last run's if it is valid, else a new one. */
async function demoKey(dataDir: string, platform: Platform, clock: Clock): Promise<string> {
  const { files } = platform;
  const { firstKey: path } = directoryPaths(dataDir);
  const keys = await openKeys("demo", dataDir, platform, clock);
  if (await files.exists(path)) {
    const text = new TextDecoder().decode(await files.read(path)).trim();
    if (keys.find(text).kind === "known") return text;
  }
  const created = await keys.create({
    appId: FIRST_APP,
    permissions: ["read", "write", "edit", "manage"],
    view: null,
    tier: "unlimited",
    label: "demo",
    ...UNBOUND,
    expiresMs: null,
  });
  assert(created.ok, "keys can be written");
  await files.replace(path, new TextEncoder().encode(`${created.value.text}\n`));
  return created.value.text;
}

/** Fetches the devices of the key's app from the running server. */
export async function fetchKnownDevices(url: string, key: string): Promise<ReadonlyMap<string, KnownDevice>> {
  const answer = await askServer({ url, key }, "GET", "/api/v1/locations/current/columns", fetch);
  if (!answer.ok) throw new Error(answer.error);
  const { device_id, timestamp, latitude, longitude } = answer.value as unknown as Columns;
  return new Map(
    device_id.map((id, row) => [
      id,
      { timestampMs: timestamp[row]!, latitude: latitude[row]!, longitude: longitude[row]! },
    ]),
  );
}

interface Columns {
  readonly device_id: readonly string[];
  readonly timestamp: readonly number[];
  readonly latitude: readonly number[];
  readonly longitude: readonly number[];
}

function deliveryTo(app: App, key: string, signal: AbortSignal, say: (line: string) => void): Deliver {
  return createPostDelivery({
    url: app.url,
    key,
    appId: FIRST_APP,
    post: (url, init) => fetch(url, init),
    wait: (milliseconds) => wait(milliseconds, signal),
    signal,
    onWait: (reason, seconds) => say(`${reason}. Trying again in ${seconds} s.`),
  });
}

class UndeliveredError extends Error {}

/** Delivers batches one after the other, and prints the first rejected report. */
function createReporter(deliver: Deliver, say: (line: string) => void) {
  let hasWarned = false;
  return async function report(batches: Iterable<ReportBatch>): Promise<void> {
    for (const batch of batches) {
      const result = await deliver(batch);
      if (!result.ok) throw new UndeliveredError(result.error);
      const [rejected] = result.value.rejected;
      if (rejected === undefined || hasWarned) continue;
      hasWarned = true;
      say(`The server rejected some positions. The first of them: ${rejected.message}`);
    }
  };
}

function announcement(
  { url }: App,
  code: string | null,
  { devices }: Replay,
  { config, speed, path }: DemoOptions,
): string {
  const { firstKey } = directoryPaths(config.dataDir);
  const view = path === null ? SAMPLES_VIEW : "";
  const map =
    code === null
      ? `Open the map at ${url}/map${view} and sign in`
      : `Open the map: ${mapLink(url, code, view)}\nTo sign in again later, open ${url}/map${view}`;
  return `\
Replaying ${countOf(devices, "recorded device")} at ${speed}x speed (speeds are shown as recorded).
${map} with the key in ${firstKey}
Ctrl-C stops the demo; the same command continues it. Its data is in ${config.dataDir}; remove that to start over.
`;
}
