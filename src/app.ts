import { BrokerLink, type BrokerLinkParts } from "./app/broker-link.ts";
import { createFirstKey, FIRST_APP } from "./app/first-key.ts";
import { meteredEvents } from "./app/metered-events.ts";
import { openSecrets, watchSecrets } from "./app/secrets.ts";
import { ServiceState } from "./app/service-state.ts";
import { createServices } from "./app/services.ts";
import { type SettingsEvents, watchSettings } from "./app/settings.ts";
import { sealedRetention } from "./archive/files/sealed-retention.ts";
import type { NewKey } from "./auth/key-store.ts";
import { createRateLimit } from "./auth/rate-limit.ts";
import { keyForLink } from "./auth/sessions/link-key.ts";
import { type BaseMap, openBaseMap } from "./basemap/base-map.ts";
import type { Config } from "./config.ts";
import { directoryPaths } from "./directory/paths.ts";
import { Settings } from "./directory/settings.ts";
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
export interface AppEvents extends DirectoryEvents, SettingsEvents {
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
  /** A code that signs in on the map once; null where no key may read all of its app, or no code can be signed. */
  createLinkCode(): Promise<string | null>;
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
  const { dataDir, hostname, port } = config;
  const { acquireLock, pid } = platform;
  const state = new ServiceState();
  const files = createPatientFiles(platform.files, {
    isWanted: () => state.readiness.status === "starting",
    onWaiting: events.onWaiting,
  });
  const process = { pid, command: config.demoSpeed === null ? "serve" : "demo" };
  const release = await takeDirectory(dataDir, process.command, { files, acquireLock, pid }, clock);
  const eventLoop = watchEventLoop(events.onHeldUp);
  let listener: Listener | null = null;
  let baseMap: BaseMap | null = null;
  try {
    baseMap = await openBaseMap(platform.inputs, config.mapFile);
    const paths = directoryPaths(dataDir);
    const sharing = { files, clock, acquireLock, process };
    const secrets = await openSecrets(paths, sharing);
    const settings = await Settings.open({ ...sharing, path: paths.settings }, () =>
      sealedRetention(files, paths.archive),
    );
    const { keys } = secrets;
    const scheduler = new Scheduler();
    const hot = createHotStore(scheduler);
    const meters = createMeters();
    const linked = { files, clock, directoryIdPath: paths.directoryId };
    const broker = createBroker(config, platform, events, linked);
    const services = createServices({
      damagedDirectory: paths.damaged,
      friendsApps: config.friendsApps,
      viewersMax: config.viewersMax,
      demoSpeed: config.demoSpeed,
      files,
      platform,
      clock,
      retention: settings.retention,
      hot,
      scheduler,
      meters,
      eventLoop,
      state,
      broker,
      secrets,
      baseMap,
    });
    const fetch = createFetch(config, services, meters, events);
    listener = await platform.listen({ hostname, port, fetch });
    // Only now: where the port is in use nobody would be told of the key, and the next start would make none.
    const firstKey = await createFirstKey(keys, files, paths, FIRST_APP);
    const watches = [watchSecrets(secrets, events.onKeyFile), watchSettings(settings, events)];
    const opening = openDirectory({
      dataDir,
      files,
      startHelper: platform.startHelper,
      clock,
      retention: settings.retention,
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
    const running = { state, watches, services, eventLoop, listener, broker, baseMap, ready, release };
    const calls = { createLinkCode: () => createLinkCode(services), close: () => stop(running) };
    return { url: listener.url, firstKey, ready, ...calls };
  } catch (error) {
    eventLoop.stop();
    await listener?.stop(0);
    await baseMap?.close();
    release();
    throw error;
  }
}

/** What will bring reports from a broker. */
function createBroker(
  { mqtt }: Config,
  { loadBroker }: Platform,
  events: AppEvents,
  linked: Pick<BrokerLinkParts, "files" | "clock" | "directoryIdPath">,
): BrokerLink {
  return new BrokerLink({ ...linked, config: mqtt, loadBroker, events: events.mqtt });
}

/** What answers requests. */
function createFetch(config: Config, services: Services, meters: Meters, events: AppEvents) {
  const server = createServer({
    services,
    rateLimit: createRateLimit(),
    corsOrigins: config.corsOrigins,
    moreEndpoints: config.compat === "dawarich" ? DAWARICH_ENDPOINTS : [],
    requests: meters.requests,
    onFault: events.onFault,
    onAnswered: events.onAnswered,
  });
  return inShortTurns(server.fetch);
}

async function createLinkCode({ keys, sessions }: Services): Promise<string | null> {
  const key = keyForLink(keys);
  const code = key === null ? null : await sessions.createCode(key.id);
  return code?.ok ? code.value : null;
}

/** Serves the opened directory, unless the service was told to stop meanwhile. */
async function begin(directory: OpenDirectory, state: ServiceState, events: AppEvents): Promise<void> {
  directory.hot.keepChanges(directory.log.lastSequence);
  if (!state.noteOpened(directory)) return;
  events.onReady(directory);
  await directory.inspect();
  directory.schedule.start();
  directory.quarantineSweeps.start();
  directory.packing.start();
}

/** What runs while the app is open. */
interface Running {
  readonly state: ServiceState;
  readonly watches: readonly { stop(): void }[];
  readonly services: Pick<Services, "viewers">;
  readonly eventLoop: { stop(): void };
  readonly listener: Listener;
  readonly broker: BrokerLink;
  readonly baseMap: BaseMap;
  readonly ready: Promise<void>;
  /** Gives the directory free where it was never opened. */
  readonly release: () => void;
}

async function stop(running: Running): Promise<void> {
  const { state, watches, services, eventLoop, listener, broker, baseMap, ready, release } = running;
  state.noteStopping();
  services.viewers.stop(); // Their streams would go on for ever.
  for (const watch of watches) watch.stop();
  eventLoop.stop();
  // An export may go on for hours, and who takes it sees that it broke off.
  await Promise.all([state.directory?.exports.stop(), listener.stop(STOP_GRACE_MS), broker.close()]);
  await baseMap.close();
  await ready.catch(() => undefined); // Whoever waits for `ready` has heard of it.
  if (state.directory === null) release();
  else await state.directory.close();
}
