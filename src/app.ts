import { BrokerLink } from "./app/broker-link.ts";
import { createFirstKey, FIRST_APP } from "./app/first-key.ts";
import { meteredEvents } from "./app/metered-events.ts";
import { openSecrets, watchSecrets } from "./app/secrets.ts";
import { ServiceState } from "./app/service-state.ts";
import { createServices } from "./app/services.ts";
import type { KeyStore, NewKey } from "./auth/key-store.ts";
import { createRateLimit } from "./auth/rate-limit.ts";
import type { Config } from "./config.ts";
import { directoryPaths } from "./directory/paths.ts";
import { createHotStore } from "./hot/hot-store.ts";
import { inShortTurns } from "./http/answer/short-turns.ts";
import { DAWARICH_ENDPOINTS } from "./http/clients/client-endpoints.ts";
import type { Answered } from "./http/observe.ts";
import { createServer } from "./http/server.ts";
import type { Services } from "./http/services.ts";
import { Scheduler } from "./lib/schedule/scheduler.ts";
import { watchEventLoop } from "./metrics/event-loop-meter.ts";
import { createMeters, type Meters } from "./metrics/meters.ts";
import type { ReceiverEvents } from "./mqtt/receiver.ts";
import { type DirectoryEvents, type OpenDirectory, openDirectory, takeDirectory } from "./open-directory.ts";
import type { Listener } from "./runtime/listen.ts";
import { createPatientFiles } from "./runtime/patient-files.ts";
import type { Platform } from "./runtime/platform.ts";
import type { Clock } from "./time/clock.ts";

/** Builds the program from its parts, in order. It holds no rules of its own. */

/** What an operator should know, as it happens. */
export interface AppEvents extends DirectoryEvents {
  onReady(opened: OpenDirectory): void;
  /** The start can't open a file for now, and tries again. */
  onWaiting(error: unknown): void;
  onKeyFile(reason: string): void;
  /** A request failed by our fault; the client knows the id. */
  onFault(requestId: string, error: unknown): void;
  /** Nothing could be answered for so long. */
  onHeldUp(delayMs: number): void;
  /** Every request; null where nobody listens, which costs nothing. */
  readonly onAnswered: ((answered: Answered) => void) | null;
  /** Of the connections to a broker. */
  readonly mqtt: ReceiverEvents;
}

export interface App {
  readonly url: string;
  /** The key made for a directory that had nothing in it yet. */
  readonly firstKey: NewKey | null;
  /** Resolves when every acknowledged record is queryable; rejects where the directory can't be read. */
  readonly ready: Promise<void>;
  /** Answers what was accepted, then stops. */
  close(): Promise<void>;
}

const STOP_GRACE_MS = 3000; // Of the 5 s that a stop may take: what follows takes most of a second on a busy machine.

/** Opens the data directory and serves it: listening at once, answering about data once the log is replayed. */
export async function openApp(
  config: Config,
  platform: Platform,
  clock: Clock,
  events: AppEvents,
): Promise<App> {
  const { dataDir } = config;
  const { acquireLock, pid } = platform;
  const state = new ServiceState();
  const files = createPatientFiles(platform.files, {
    isWanted: () => state.readiness.status === "starting",
    onWaiting: events.onWaiting,
  });
  const release = await takeDirectory(dataDir, "serve", { files, acquireLock, pid }, clock);
  const eventLoop = watchEventLoop(events.onHeldUp);
  let listener: Listener | null = null;
  try {
    const paths = directoryPaths(dataDir);
    const process = { pid, command: "serve" };
    const secrets = await openSecrets(paths, { files, clock, acquireLock, process });
    const { keys, passPhrases } = secrets;
    const scheduler = new Scheduler();
    const hot = createHotStore(scheduler);
    const meters = createMeters();
    const broker = new BrokerLink({
      config: config.mqtt,
      directoryIdPath: paths.directoryId,
      loadBroker: platform.loadBroker,
      events: events.mqtt,
      files,
      clock,
    });
    const services = createServices({
      damagedDirectory: paths.damaged,
      friendsApps: config.friendsApps,
      files,
      platform,
      clock,
      hot,
      scheduler,
      meters,
      eventLoop,
      state,
      broker,
      passPhrases,
      keys,
    });
    const { hostname, port } = config;
    const fetch = createFetch(config, services, keys, meters, events);
    listener = await platform.listen({ hostname, port, fetch });
    // Only now: where the port is in use nobody would be told of the key, and the next start would make none.
    const firstKey = await createFirstKey(keys, files, paths, FIRST_APP);
    const watch = watchSecrets(secrets, events.onKeyFile);
    const opening = openDirectory({
      dataDir,
      files,
      clock,
      hot,
      config,
      events: meteredEvents(events, meters, clock),
      onProgress: (replayed, total) => state.noteReplayed(replayed, total),
      release,
      scheduler,
    });
    const ready = opening
      .then((directory) => begin(directory, state, events))
      .then(() => broker.open(services));
    const running = { state, watch, eventLoop, listener, broker, ready, release };
    return { url: listener.url, firstKey, ready, close: () => stop(running) };
  } catch (error) {
    eventLoop.stop();
    await listener?.stop(0);
    release();
    throw error;
  }
}

/** What answers requests. */
function createFetch(config: Config, services: Services, keys: KeyStore, meters: Meters, events: AppEvents) {
  const server = createServer({
    services,
    keys,
    rateLimit: createRateLimit(),
    corsOrigins: config.corsOrigins,
    moreEndpoints: config.compat === "dawarich" ? DAWARICH_ENDPOINTS : [],
    requests: meters.requests,
    onFault: events.onFault,
    onAnswered: events.onAnswered,
  });
  return inShortTurns(server.fetch);
}

/** Serves the opened directory, unless the service was told to stop meanwhile. */
async function begin(directory: OpenDirectory, state: ServiceState, events: AppEvents): Promise<void> {
  if (!state.noteOpened(directory)) return;
  events.onReady(directory);
  await directory.inspect();
  directory.schedule.start();
  directory.quarantineSweeps.start();
}

/** What runs while the app is open. */
interface Running {
  readonly state: ServiceState;
  readonly watch: { stop(): void };
  readonly eventLoop: { stop(): void };
  readonly listener: Listener;
  readonly broker: BrokerLink;
  readonly ready: Promise<void>;
  /** Gives the directory free where it was never opened. */
  readonly release: () => void;
}

async function stop({ state, watch, eventLoop, listener, broker, ready, release }: Running): Promise<void> {
  state.noteStopping();
  watch.stop();
  eventLoop.stop();
  await Promise.all([listener.stop(STOP_GRACE_MS), broker.close()]);
  await ready.catch(() => undefined); // Whoever waits for `ready` has heard of it.
  if (state.directory === null) release();
  else await state.directory.close();
}
