import manifest from "../../package.json" with { type: "json" };
import { sealedRetention } from "../archive/manifest.ts";
import type { NewKey } from "../auth/key-store.ts";
import { keyForLink } from "../auth/link-codes.ts";
import { createRateLimit } from "../auth/rate-limit.ts";
import type { AppliedLog, ClusterNode } from "../cluster/cluster-node.ts";
import { type Copies, createCopies } from "../cluster/join/copies.ts";
import { copySqliteByHelper } from "../cluster/join/event-copies.ts";
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
import { EVERYWHERE } from "../model/webhooks/target-addresses.ts";
import { type Files, ignoreFileError } from "../runtime/files.ts";
import type { Listener } from "../runtime/listen.ts";
import { createPatientFiles } from "../runtime/patient-files.ts";
import type { Platform } from "../runtime/platform.ts";
import { createMeters, type Meters, watchEventLoop } from "../service/metrics/meters.ts";
import type { WebhookParts } from "../service/webhooks/open-webhooks.ts";
import { BrokerLink, type BrokerLinkEvents, type BrokerLinkParts } from "./broker-link.ts";
import { type Config, EXPORT_STALL_MS } from "./config.ts";
import type { DirectoryEvents, OpenDirectory } from "./directory.ts";
import { EventLink } from "./event-link.ts";
import { createFirstKey, FIRST_APP } from "./first-key.ts";
import { openDirectory } from "./open-directory.ts";
import { openSecrets, type Secrets, watchSecrets } from "./secrets.ts";
import { ServiceState } from "./service-state.ts";
import { createServices } from "./services.ts";
import { type SettingsEvents, watchSettings } from "./settings.ts";

/** Builds the program from its parts, in order. It holds no rules of its own. */

/** Events that an operator should know about. */
export interface AppEvents extends DirectoryEvents, SettingsEvents, Pick<OpenClusterParts, "onLogNote"> {
  onReady(opened: OpenDirectory): void;
  /** The start can't open a file at the moment and tries again. */
  onWaiting(error: unknown): void;
  onKeyFile(reason: string): void;
  /** A file of streets can't be used; the server starts without it. */
  onMapNote(note: string): void;
  /** A request failed because of a bug or a disk; the client got this id. */
  onFault(requestId: string, error: unknown): void;
  /** The event loop was blocked for this long. */
  onHeldUp(delayMs: number): void;
  /** Called for every request; null skips the work of describing it. */
  readonly onAnswered: ((answered: Answered) => void) | null;
  /** Events of the connections to a broker. */
  readonly mqtt: BrokerLinkEvents;
}

export interface App {
  readonly url: string;
  /** The key created for an empty directory. */
  readonly firstKey: NewKey | null;
  /** A code that signs in on the map once; null if no key may read its whole app, or if no code can be signed. */
  createLinkCode(): Promise<string | null>;
  /** Resolves when every acknowledged record is queryable; rejects if the directory can't be read. */
  readonly ready: Promise<void>;
  /** Rejects if a node can't follow its log any further, because its answers would become stale. */
  readonly failed: Promise<never>;
  /** Answers accepted requests, then stops. */
  close(): Promise<void>;
}

/** A single process never gives up its log: its answers report each failure. */
const NEVER = new Promise<never>(() => undefined);

const STOP_GRACE_MS = 3000; // A stop may take 5 s, and the steps after this one take almost 1 s on a busy machine.

/** Opens the data directory and serves it. It listens immediately, and answers about data once the log is replayed. */
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
  let [listener, prerequisites]: [Listener | null, Prerequisites | null] = [null, null];
  try {
    prerequisites = await openPrerequisites(config, platform, { files, clock, acquireLock, process }, events);
    const { baseMap, node, secrets, settings, watches } = prerequisites;
    const paths = directoryPaths(dataDir);
    const scheduler = new Scheduler();
    const hot = createHotStore(scheduler);
    const meters = createMeters();
    meters.requests.onBegin = eventLoop.noteWork;
    const links = createLinks(config, platform, events, { files, clock, node });
    const services = createServices({
      copies: createNodeCopies(config, platform, files, node),
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
      broker: links.broker,
      secrets,
      baseMap: () => baseMap,
    });
    state.noteCluster(node);
    const fetch = createFetch(config, services, { meters, state }, events);
    listener = await platform.listen({ hostname, port, fetch });
    await noteAddress(files, dataDir, { pid, atMs: clock.nowMs(), url: listener.url }, events);
    // After listening: if the port were in use, this key would never be shown, and the next start would create none.
    const firstKey = await beginKeys(prerequisites, files, paths, events);
    watches.push(watchSecrets(secrets, events.onKeyFile, timers), watchSettings(settings, events, timers));
    await node?.announce(config.cluster?.advertise ?? listener.url, events.onWaiting);
    const opening = openDirectory({
      dataDir,
      signal: state.stopping,
      files,
      startHelper: platform.startHelper,
      openSqlite: platform.openSqlite,
      clock,
      retention: settings.retention,
      ...{ hot, config, scheduler, release, keepsChanges: true, access: secrets },
      webhooks: webhookParts(config, platform, secrets),
      events: meteredEvents(events, meters),
      onProgress: (replayed, total) => state.noteReplayed(replayed, total),
      forget: (appId, deviceId) => services.doctor.forget(appId, deviceId),
      ...(node === null ? {} : { stream: node.directoryStream }),
    });
    const ready = noteFailure(opening, node)
      .then((directory) => begin(directory, state, events, links))
      .then(() => links.broker.open(services));
    const running = { state, watches, services, eventLoop, listener, ...links, baseMap, ready, release };
    const calls = { createLinkCode: () => createLinkCode(services), close: () => stop(running) };
    return { url: listener.url, firstKey, ready, failed: node?.failed ?? NEVER, ...calls };
  } catch (error) {
    eventLoop.stop();
    await listener?.stop(0);
    if (prerequisites !== null) await closePrerequisites(prerequisites);
    release();
    throw error;
  }
}

const EVENT_COPIER = new URL("./event-copier.ts", import.meta.url);

function createNodeCopies(
  { dataDir }: Config,
  { startHelper }: Platform,
  files: Files,
  node: ClusterNode | null,
): Copies {
  const copySqlite = copySqliteByHelper(startHelper, EVENT_COPIER);
  const cluster = () => node?.status ?? null;
  return createCopies({ files, dataDir, copySqlite, cluster, stallMs: EXPORT_STALL_MS });
}

function webhookParts(
  { webhookTargets: targets, webhookProxy: proxy }: Config,
  { post, resolveName: resolve, createProxiedPost }: Platform,
  { webhookSecrets: secrets }: Secrets,
): WebhookParts {
  const common = { secrets, version: manifest.version };
  if (proxy === null) return { ...common, targets, post, resolve };
  return { ...common, targets: EVERYWHERE, post: createProxiedPost(proxy), resolve: async () => [] };
}

/** Writes the address for commands on this machine. They work without it, so a full disk must not prevent a start. */
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

/** A node whose start fails tells the other nodes before it reports the error here. */
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

/** What is open besides the data before the server listens. */
interface Prerequisites {
  readonly baseMap: BaseMap;
  /** Null for a single process. */
  readonly node: ClusterNode | null;
  readonly secrets: Secrets;
  readonly settings: Settings;
  /** Watchers of shared settings and files. */
  readonly watches: { stop(): void }[];
}

async function openPrerequisites(
  config: Config,
  { inputs, openStream }: Platform,
  sharing: Omit<SharedFileDependencies, "path"> & Pick<OpenClusterParts, "files">,
  events: AppEvents,
): Promise<Prerequisites> {
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
    const baseMap = await openBaseMap(inputs, config.mapFile, {
      directory: paths.map,
      onNote: events.onMapNote,
    });
    return { node, secrets, settings, baseMap, watches: shared === null ? [] : [shared.watch()] };
  } catch (error) {
    await node?.close();
    throw error;
  }
}

async function closePrerequisites({ watches, baseMap, node }: Prerequisites): Promise<void> {
  for (const watch of watches) watch.stop();
  await baseMap.close();
  await node?.close();
}

function beginKeys(
  { secrets, node }: Prerequisites,
  files: Files,
  paths: ReturnType<typeof directoryPaths>,
  { onWaiting }: AppEvents,
): Promise<NewKey | null> {
  return patiently(() => createFirstKey(secrets.keys, files, paths, FIRST_APP, node?.stream), onWaiting);
}

/** What one node of a cluster does at a time. */
function createLinks(
  { mqtt, dataDir }: Config,
  { loadBroker }: Platform,
  events: AppEvents,
  linked: Pick<BrokerLinkParts, "files" | "clock"> & Pick<Prerequisites, "node">,
): Pick<Running, "broker" | "eventLink" | "node"> {
  const { node } = linked;
  const broker = new BrokerLink({
    ...linked,
    directoryIdPath: directoryPaths(dataDir).directoryId,
    config: mqtt,
    loadBroker,
    events: events.mqtt,
    onNote: events.onLogNote,
  });
  return { broker, eventLink: new EventLink(node, events.onLogNote), node };
}

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

/** Serves the opened directory, unless the service began to stop meanwhile. */
async function begin(
  directory: OpenDirectory,
  state: ServiceState,
  events: AppEvents,
  { node, eventLink }: Pick<Running, "node" | "eventLink">,
): Promise<void> {
  node?.begin(appliedLog(directory));
  if (!state.noteOpened(directory)) return;
  events.onReady(directory);
  await directory.inspect();
  directory.schedule.start();
  directory.sweeps.start();
  directory.compactor.start();
  directory.watcher.start();
  directory.eraser.start();
  eventLink.open(directory);
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

interface Running {
  readonly state: ServiceState;
  readonly watches: readonly { stop(): void }[];
  readonly services: Pick<Services, "viewers" | "copies" | "sequences">;
  readonly eventLoop: { stop(): void };
  readonly listener: Listener;
  readonly broker: BrokerLink;
  readonly eventLink: EventLink;
  readonly baseMap: BaseMap;
  readonly node: ClusterNode | null;
  readonly ready: Promise<void>;
  /** Releases the lock of a directory that was never opened. */
  readonly release: () => void;
}

async function stop(running: Running): Promise<void> {
  const { state, watches, services, eventLoop, listener, broker, baseMap, node, ready, release } = running;
  state.noteStopping();
  services.viewers.stop(); // Their streams have no end of their own.
  services.copies.stop(); // A copy takes hours; its node resumes later with what it has.
  services.sequences.close();
  for (const watch of watches) watch.stop();
  eventLoop.stop();
  // An export may take hours; its client sees that it was cut off.
  await Promise.all([state.directory?.exports.stop(), listener.stop(STOP_GRACE_MS), broker.close()]);
  await baseMap.close();
  node?.breakOffStart();
  await ready.catch(() => undefined); // The caller that awaits `ready` gets the error.
  if (state.directory === null) release();
  else await state.directory.close();
  await running.eventLink.close();
  await node?.close();
}

/** Forwards the events, and counts them for the metrics. */
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
