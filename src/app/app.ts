import { sealedRetention } from "../archive/manifest.ts";
import type { NewKey } from "../auth/key-store.ts";
import { keyForLink } from "../auth/link-codes.ts";
import { createRateLimit } from "../auth/rate-limit.ts";
import type { AppliedLog, ClusterNode } from "../cluster/cluster-node.ts";
import { createCopies } from "../cluster/join/copies.ts";
import { messageNumberOf } from "../cluster/log/group-message.ts";
import { type OpenClusterParts, openCluster } from "../cluster/open-cluster.ts";
import { patiently } from "../cluster/repeat.ts";
import { SharedBucket } from "../cluster/shared-bucket.ts";
import { directoryPaths } from "../directory/paths.ts";
import { Settings } from "../directory/settings.ts";
import type { SharedFileDependencies } from "../directory/shared-file.ts";
import { beginDirectory, noteServing } from "../directory/take-directory.ts";
import { createHotStore } from "../hot/hot-store.ts";
import { inShortTurns } from "../http/answer/turns.ts";
import { DAWARICH_ENDPOINTS } from "../http/clients/client-endpoints.ts";
import type { Answered } from "../http/observe.ts";
import { createServer } from "../http/server.ts";
import type { Services } from "../http/services.ts";
import { messageOf } from "../lib/message-of.ts";
import { Scheduler } from "../lib/schedule/scheduler.ts";
import { type BaseMap, openBaseMap } from "../map/base-map.ts";
import type { Clock } from "../model/time/clock.ts";
import { type Files, ignoreFileError } from "../runtime/files.ts";
import type { Listener } from "../runtime/listen.ts";
import { createPatientFiles } from "../runtime/patient-files.ts";
import type { Platform } from "../runtime/platform.ts";
import { createMeters, type Meters, watchEventLoop } from "../service/metrics/meters.ts";
import { BrokerLink, type BrokerLinkEvents, type BrokerLinkParts } from "./broker-link.ts";
import { type Config, EXPORT_STALL_MS } from "./config.ts";
import { createFirstKey, FIRST_APP } from "./first-key.ts";
import { type DirectoryEvents, type OpenDirectory, openDirectory } from "./open-directory.ts";
import { openSecrets, type Secrets, watchSecrets } from "./secrets.ts";
import { ServiceState } from "./service-state.ts";
import { createServices } from "./services.ts";
import { type SettingsEvents, watchSettings } from "./settings.ts";

/** Builds the program from its parts, in order. It holds no rules of its own. */

/** What an operator should know, as it happens. */
export interface AppEvents extends DirectoryEvents, SettingsEvents, Pick<OpenClusterParts, "onLogNote"> {
  onReady(opened: OpenDirectory): void;
  /** The start can't open a file for now, and tries again. */
  onWaiting(error: unknown): void;
  onKeyFile(reason: string): void;
  /** A request failed by our fault; the client knows the id. */
  onFault(requestId: string, error: unknown): void;
  /** The event loop stood still for this long. */
  onHeldUp(delayMs: number): void;
  /** Called for every request. Null costs nothing. */
  readonly onAnswered: ((answered: Answered) => void) | null;
  /** Events of the connections to a broker. */
  readonly mqtt: BrokerLinkEvents;
}

export interface App {
  readonly url: string;
  /** The key made for a directory that had nothing in it yet. */
  readonly firstKey: NewKey | null;
  /** A code that signs in on the map once; null where no key may read all of its app, or no code can be signed. */
  createLinkCode(): Promise<string | null>;
  /** Resolves when every acknowledged record is queryable; rejects where the directory can't be read. */
  readonly ready: Promise<void>;
  /** Rejects where a node can't follow its log any further: what it answers would grow old. */
  readonly failed: Promise<never>;
  /** Answers what was accepted, then stops. */
  close(): Promise<void>;
}

/** A process that is alone says by its answers what its log can't do. */
const NEVER = new Promise<never>(() => undefined);

const STOP_GRACE_MS = 3000; // Of the 5 s that a stop may take: what follows takes most of a second on a busy machine.

/** Opens the data directory and serves it: listening at once, answering about data once the log is replayed. */
export async function openApp(
  config: Config,
  platform: Platform,
  clock: Clock,
  events: AppEvents,
): Promise<App> {
  const { dataDir, hostname, port } = config;
  const { acquireLock, pid, timers } = platform;
  const state = new ServiceState();
  const files = createPatientFiles(platform.files, {
    isWanted: () => state.readiness.status === "starting",
    onWaiting: events.onWaiting,
  });
  const process = { pid, command: config.demoSpeed === null ? "serve" : "demo" };
  const release = await beginDirectory(dataDir, process.command, { files, acquireLock, pid }, clock);
  const eventLoop = watchEventLoop(events.onHeldUp);
  let [listener, held]: [Listener | null, Held | null] = [null, null];
  try {
    held = await openHeld(config, platform, { files, clock, acquireLock, process }, events);
    const { baseMap, node, secrets, settings, watches } = held;
    const paths = directoryPaths(dataDir);
    const scheduler = new Scheduler();
    const hot = createHotStore(scheduler);
    const meters = createMeters();
    const broker = createBroker(config, platform, events, { files, clock, node });
    const services = createServices({
      copies: createCopies({ files, dataDir, cluster: () => node?.status ?? null, stallMs: EXPORT_STALL_MS }),
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
      baseMap: () => baseMap,
    });
    state.noteCluster(node);
    const fetch = createFetch(config, services, { meters, state }, events);
    listener = await platform.listen({ hostname, port, fetch });
    await noteAddress(files, dataDir, { pid, atMs: clock.nowMs(), url: listener.url }, events);
    // Only now: where the port is in use nobody would be told of the key, and the next start would make none.
    const firstKey = await beginKeys(held, files, paths, events);
    watches.push(watchSecrets(secrets, events.onKeyFile, timers), watchSettings(settings, events, timers));
    await node?.announce(config.cluster?.advertise ?? listener.url, events.onWaiting);
    const opening = openDirectory({
      dataDir,
      signal: state.stopping,
      files,
      startHelper: platform.startHelper,
      clock,
      retention: settings.retention,
      hot,
      config,
      events: meteredEvents(events, meters),
      onProgress: (replayed, total) => state.noteReplayed(replayed, total),
      release,
      scheduler,
      keepsChanges: true,
      ...(node === null ? {} : { stream: node.directoryStream }),
    });
    const ready = noteFailure(opening, node)
      .then((directory) => begin(directory, state, events, node))
      .then(() => broker.open(services));
    const running = { state, watches, services, eventLoop, listener, broker, baseMap, node, ready, release };
    const calls = { createLinkCode: () => createLinkCode(services), close: () => stop(running) };
    return { url: listener.url, firstKey, ready, failed: node?.failed ?? NEVER, ...calls };
  } catch (error) {
    eventLoop.stop();
    await listener?.stop(0);
    if (held !== null) await closeHeld(held);
    release();
    throw error;
  }
}

/** For commands beside the server, which can do without: a full disk is no reason not to start. */
async function noteAddress(
  files: Files,
  dataDir: string,
  serving: Parameters<typeof noteServing>[2],
  { onLogNote }: AppEvents,
): Promise<void> {
  try {
    await noteServing(files, dataDir, serving);
  } catch (error) {
    ignoreFileError(error);
    onLogNote(`Commands beside this server will not know where it listens: ${messageOf(error)}`);
  }
}

/** A node whose start can't go on tells the others, before anybody hears of it here. */
async function noteFailure(
  opening: Promise<OpenDirectory>,
  node: ClusterNode | null,
): Promise<OpenDirectory> {
  try {
    return await opening;
  } catch (error) {
    await node?.noteFailedStart(error);
    throw error;
  }
}

/** What is open beside the data before the server listens. */
interface Held {
  readonly baseMap: BaseMap;
  /** Null where this process is alone. */
  readonly node: ClusterNode | null;
  readonly secrets: Secrets;
  readonly settings: Settings;
  /** What nodes share, and what lies in files, is taken in as it changes. */
  readonly watches: { stop(): void }[];
}

async function openHeld(
  config: Config,
  { inputs, openStream }: Platform,
  sharing: Omit<SharedFileDependencies, "path"> & Pick<OpenClusterParts, "files">,
  events: AppEvents,
): Promise<Held> {
  const paths = directoryPaths(config.dataDir);
  const { onWaiting, onLogNote } = events;
  const node = await openCluster(config, { ...sharing, openStream, onWaiting, onLogNote });
  try {
    const shared = node === null ? null : new SharedBucket(node.shared);
    const secrets = await patiently(() => openSecrets(paths, { ...sharing, shared }, node), onWaiting);
    const whereMissing = () => sealedRetention(sharing.files, paths.archive);
    const settings = await patiently(
      () => Settings.open({ ...sharing, shared, path: paths.settings }, whereMissing),
      onWaiting,
    );
    const baseMap = await openBaseMap(inputs, config.mapFile);
    return { node, secrets, settings, baseMap, watches: shared === null ? [] : [shared.watch()] };
  } catch (error) {
    await node?.close();
    throw error;
  }
}

async function closeHeld({ watches, baseMap, node }: Held): Promise<void> {
  for (const watch of watches) watch.stop();
  await baseMap.close();
  await node?.close();
}

function beginKeys(
  { secrets, node }: Held,
  files: Files,
  paths: ReturnType<typeof directoryPaths>,
  { onWaiting }: AppEvents,
): Promise<NewKey | null> {
  return patiently(() => createFirstKey(secrets.keys, files, paths, FIRST_APP, node?.stream), onWaiting);
}

/** What will bring reports from a broker. */
function createBroker(
  { mqtt, dataDir }: Config,
  { loadBroker }: Platform,
  events: AppEvents,
  linked: Pick<BrokerLinkParts, "files" | "clock" | "node">,
): BrokerLink {
  return new BrokerLink({
    ...linked,
    directoryIdPath: directoryPaths(dataDir).directoryId,
    config: mqtt,
    loadBroker,
    events: events.mqtt,
    onNote: events.onLogNote,
  });
}

/** What answers requests. */
function createFetch(
  config: Config,
  services: Services,
  { meters, state }: { readonly meters: Meters; readonly state: ServiceState },
  events: AppEvents,
) {
  const server = createServer({
    services,
    rateLimit: createRateLimit(() => state.liveNodes),
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
async function begin(
  directory: OpenDirectory,
  state: ServiceState,
  events: AppEvents,
  node: ClusterNode | null,
): Promise<void> {
  node?.begin(appliedLog(directory));
  if (!state.noteOpened(directory)) return;
  events.onReady(directory);
  await directory.inspect();
  directory.schedule.start();
  directory.quarantineSweeps.start();
  directory.packing.start();
}

function appliedLog({ log }: OpenDirectory): AppliedLog {
  return {
    get lastSequence() {
      return log.lastSequence;
    },
    get lastMessage() {
      return messageNumberOf(log.lastSequence);
    },
  };
}

/** What runs while the app is open. */
interface Running {
  readonly state: ServiceState;
  readonly watches: readonly { stop(): void }[];
  readonly services: Pick<Services, "viewers" | "copies" | "sequences">;
  readonly eventLoop: { stop(): void };
  readonly listener: Listener;
  readonly broker: BrokerLink;
  readonly baseMap: BaseMap;
  readonly node: ClusterNode | null;
  readonly ready: Promise<void>;
  /** Gives the directory free where it was never opened. */
  readonly release: () => void;
}

async function stop(running: Running): Promise<void> {
  const { state, watches, services, eventLoop, listener, broker, baseMap, node, ready, release } = running;
  state.noteStopping();
  services.viewers.stop(); // Their streams would go on for ever.
  services.copies.stop(); // And these for hours: who takes them goes on with what it has.
  services.sequences.close();
  for (const watch of watches) watch.stop();
  eventLoop.stop();
  // An export may go on for hours, and who takes it sees that it broke off.
  await Promise.all([state.directory?.exports.stop(), listener.stop(STOP_GRACE_MS), broker.close()]);
  await baseMap.close();
  node?.breakOffStart();
  await ready.catch(() => undefined); // The caller that awaits `ready` gets the error.
  if (state.directory === null) release();
  else await state.directory.close();
  await node?.close();
}

/** Passes the events on, and counts them for the metrics. */
function meteredEvents(events: DirectoryEvents, meters: Meters): DirectoryEvents {
  const { log, seals, refusals } = meters;
  return {
    ...events,
    onRefusal(refusal) {
      refusals.set(refusal.kind, (refusals.get(refusal.kind) ?? 0) + 1);
      events.onRefusal(refusal);
    },
    onLogWritten({ entries, bytes, syncMs }) {
      log.entries += entries;
      log.writtenBytes += bytes;
      log.syncs.add(syncMs);
    },
    onSealed(report) {
      seals.durations.add(report.durationMs);
      seals.records += report.records;
      events.onSealed(report);
    },
    onSealFailed(error) {
      seals.failed++;
      events.onSealFailed(error);
    },
  };
}
