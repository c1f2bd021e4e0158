import { tmpdir } from "node:os";
import { LATE_WINDOW, LOG_QUEUE_BYTES_MAX, SEGMENT_BYTES_MAX } from "../../src/app/config.ts";
import { createServices, type ServedDirectory, type ServiceParts } from "../../src/app/services.ts";
import { EMPTY_MANIFEST, encodeManifest } from "../../src/archive/manifest.ts";
import type { Permission } from "../../src/auth/key-file.ts";
import { type KeyStore, openKeyStore } from "../../src/auth/key-store.ts";
import { UsedCodes } from "../../src/auth/link-codes.ts";
import { createRateLimit } from "../../src/auth/rate-limit.ts";
import { SessionSecret } from "../../src/auth/session-secret.ts";
import type { Sessions } from "../../src/auth/sessions.ts";
import type { TierName } from "../../src/auth/tiers.ts";
import type { ViewSpec } from "../../src/auth/view.ts";
import { WebhookSecrets } from "../../src/auth/webhook-secrets.ts";
import type { RefusedMessage } from "../../src/clients/refused-message.ts";
import type { ClusterStatus } from "../../src/cluster/cluster-config.ts";
import { createCopies } from "../../src/cluster/join/copies.ts";
import { ErasureLedger } from "../../src/directory/erasure-ledger.ts";
import { directoryPaths } from "../../src/directory/paths.ts";
import { createHotStore } from "../../src/hot/hot-store.ts";
import { AnswerBuffer } from "../../src/http/encode/answer-buffer.ts";
import { createServer, type ServerOptions } from "../../src/http/server.ts";
import type { Readiness, Services } from "../../src/http/services.ts";
import { assert } from "../../src/lib/assert.ts";
import { Scheduler } from "../../src/lib/schedule/scheduler.ts";
import { systemTimers } from "../../src/lib/schedule/timers.ts";
import { parseIpBlock } from "../../src/lib/text/ip-address.ts";
import type { Binding } from "../../src/model/binding.ts";
import type { AppId } from "../../src/model/ids.ts";
import { type Clock, createManualClock, type ManualClock } from "../../src/model/time/clock.ts";
import { DEFAULT_RETENTION, type Retention } from "../../src/model/time/retention.ts";
import type { StartHelper } from "../../src/runtime/helper/helper.ts";
import { createNodeFiles } from "../../src/runtime/node-files.ts";
import { createStripTypes } from "../../src/runtime/strip-types.ts";
import { createCorrect } from "../../src/service/corrections/correct.ts";
import { Turns } from "../../src/service/corrections/turns.ts";
import { createErase } from "../../src/service/erasures/erase.ts";
import { FileEraser } from "../../src/service/erasures/file-eraser.ts";
import { LateFolds } from "../../src/service/erasures/late-folds.ts";
import { READING_SIZES } from "../../src/service/export/export-source.ts";
import { createExports } from "../../src/service/export/exports.ts";
import { ExportMakers } from "../../src/service/export/maker/export-makers.ts";
import { createEditWatches } from "../../src/service/geofences/edit-watches.ts";
import { applyToMemory } from "../../src/service/ingest/apply-entry.ts";
import { createEditProfile } from "../../src/service/ingest/edit-profile.ts";
import { createIngest } from "../../src/service/ingest/ingest.ts";
import { followLog } from "../../src/service/ingest/memory-follower.ts";
import { createQuarantineAppend, createStandingAppend } from "../../src/service/ingest/standing-append.ts";
import { createMeters, DELAY_BOUNDS_SECONDS, Durations } from "../../src/service/metrics/meters.ts";
import { openMessages } from "../../src/service/quarantine/message-store.ts";
import { Quarantine } from "../../src/service/quarantine/quarantine.ts";
import { createHistoryQueries } from "../../src/service/queries/history/history.ts";
import type { LateWindowSize } from "../../src/service/queries/history/read-stretches.ts";
import { createReadPositions } from "../../src/service/queries/positions.ts";
import type { EventStore } from "../../src/service/watching/event-store.ts";
import {
  type OpenWebhooks,
  openWebhooks,
  type WebhookParts,
  type WebhookStores,
} from "../../src/service/webhooks/open-webhooks.ts";
import { openWal } from "../../src/wal/wal.ts";
import {
  createMemoryKeyFiles,
  createMemoryLock,
  type MemoryKeyFiles,
} from "../unit/auth/memory-key-files.ts";
import { startInlineHelper } from "../unit/cli/support/inline-helper.ts";
import { copyNoSqlite } from "./disk/memory-sqlite.ts";
import { createSimulatedFiles, type SimulatedFiles } from "./disk/simulated-files.ts";
import { createEmptyArchive, NO_SEALS } from "./empty-archive.ts";
import { textOf } from "./event-reader.ts";
import { openEvents } from "./geofences/test-events.ts";
import type { Report } from "./reports/batches.ts";
import { openTestBaseMap } from "./test-base-map.ts";
import { loadTestPlaces } from "./test-places.ts";

/** A Friday at noon, between the spring clock changes of New York (8 March) and Berlin (29 March). */
export const NOON_MS = Date.UTC(2026, 2, 20, 12);

/** Less than a server's, since a test file has many apps. */
const ENCODED_RECORD_BYTES = 4 << 20;
const ENCODED_POSITION_BYTES = 1 << 20;

const DAY_MS = 86_400_000;
/** Keys with the permission `view` show nothing before this instant. */
export const VIEWS_FROM_MS = NOON_MS - DAY_MS;
/** How long views live. */
export const VIEWS_MS = 30 * DAY_MS;

const EXPORTS_IN_THREADS = { startHelper: null, onNote: () => {} };
/** Shared by all apps of this process: starting a thread is the slowest part of a test app. */
const exportMakers = new ExportMakers(EXPORTS_IN_THREADS);

export const APP_ID = "fleet";
export const OTHER_APP_ID = "rival";

/** The permissions of a test app's keys. All except `other` belong to the app `fleet`. */
const KEYS = {
  full: { permissions: ["read", "write", "edit", "manage"] },
  other: { appId: OTHER_APP_ID, permissions: ["read", "write", "edit", "manage"] },
  reader: { permissions: ["read"] },
  writer: { permissions: ["write"] },
  editor: { permissions: ["edit"] },
  manager: { permissions: ["manage"] },
  eraser: { permissions: ["erase"] },
  boundEditor: { permissions: ["edit"], deviceId: "pixel7" },
  operator: { permissions: ["operate"] },
  free: { permissions: ["read", "write"], tier: "free" },
  freeReader: { permissions: ["read"], tier: "free" },
  freeWriter: { permissions: ["write"], tier: "free" },
  standard: { permissions: ["read"], tier: "standard" },
  expiring: { permissions: ["read", "write"], lifeMs: 3_600_000 },
  revoked: { permissions: ["read", "write"] },
  boundToBoth: { permissions: ["read", "write"], deviceId: "pixel7", userId: "anna" },
  boundToDevice: { permissions: ["write"], deviceId: "pixel7" },
  boundToUser: { permissions: ["write"], userId: "anna" },
  viewer: {
    permissions: ["view"],
    view: { deviceIds: ["bus", "ferry"], precisionMeters: null },
    lifeMs: VIEWS_MS,
  },
  blurredViewer: {
    permissions: ["view"],
    view: { deviceIds: ["bus", "ferry"], precisionMeters: 500 },
    lifeMs: VIEWS_MS,
  },
} as const satisfies Record<string, KeyPlan>;

interface KeyPlan extends Partial<Binding> {
  readonly view?: { readonly deviceIds: readonly string[]; readonly precisionMeters: number | null };
  readonly permissions: readonly Permission[];
  readonly appId?: string;
  readonly tier?: TierName;
  readonly lifeMs?: number;
}

export type KeyName = keyof typeof KEYS;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: AnswerBody;
}

/** A location record, or any other object of an answer. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The members that tests use; each answer has those of its kind. */
export interface AnswerBody extends JsonObject {
  readonly message: string;
  readonly location: JsonObject;
  readonly locations: readonly JsonObject[];
  readonly devices: readonly JsonObject[];
  readonly stops: readonly JsonObject[];
  readonly results: readonly (JsonObject & { readonly location: JsonObject })[];
  readonly pagination: JsonObject;
  readonly query_info: JsonObject & { readonly time_range: { readonly start: string; readonly end: string } };
  readonly distance_travelled: {
    readonly meters: number;
    readonly miles: number;
    readonly by_device: Readonly<Record<string, number>>;
  };
  readonly rejected: readonly JsonObject[];
  readonly total_candidates: number;
}

/** The real service over a real store, used through its public interface. */
export interface TestApp {
  readonly clock: ManualClock;
  /** The log's disk. */
  readonly files: SimulatedFiles;
  readonly keys: Readonly<Record<KeyName, string>>;
  readonly sessions: Sessions;
  readonly readPositions: Services["readPositions"];
  readonly events: EventStore;
  readonly webhooks: OpenWebhooks;
  /** Internal errors that the server reported. */
  readonly faults: readonly unknown[];
  /** Quarantined messages of clients. */
  readonly refused: readonly RefusedMessage[];
  setReadiness(readiness: Readiness): void;
  /** Calls the server like a listener: an immediate answer comes without a promise. */
  answer(request: Request): Response | Promise<Response>;
  /** Sends any request; `path` starts with a slash. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Sends a GET with the app's full key or another; null sends no key. */
  get(path: string, key?: KeyName | null): Promise<Answer>;
  /** Sends reports as `{"locations":[...]}`. */
  post(reports: readonly unknown[], key?: KeyName | null): Promise<Answer>;
  /** Sends reports that must all be accepted. */
  store(reports: readonly Report[], key?: KeyName): Promise<void>;
}

/** Replaces services and changes settings of the server. */
export interface TestAppOptions extends Partial<Services>, Partial<Omit<ServerOptions, "services">> {
  readonly startMs?: number;
  /** Defaults to a clock that starts at `startMs`. */
  readonly clock?: ManualClock;
  /** The log's disk. */
  readonly files?: SimulatedFiles;
  /** Starts the process that reads uploaded files; by default this process reads them. */
  readonly startHelper?: StartHelper;
  /** Open stores, instead of a log on `files` and an empty archive. */
  readonly stores?: TestStores;
}

/** The stores of a test app. */
export interface TestStores extends Pick<ServiceParts, "hot" | "scheduler" | "files" | "damagedDirectory"> {
  readonly directory: ServedDirectory;
  readonly lateWindow?: LateWindowSize;
}

export async function createTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const { startMs = NOON_MS, files = createSimulatedFiles(), stores: given, ...replaced } = options;
  const { clock = createManualClock(startMs), retention = DEFAULT_RETENTION } = options;
  const { store: keys, texts } = await createKeys(clock);
  const meters = createMeters();
  const faults: unknown[] = [];
  const refused: RefusedMessage[] = [];
  let readiness: Readiness = { status: "ready", lagMs: null };
  const stopping = new AbortController();
  const stores = given ?? (await openTestStores(files, clock, retention, refused));
  const world = await openTestBaseMap();
  const services: Services = {
    ...createServices({
      version: "1.2.3",
      platform: {
        usage: () => ({ residentBytes: 1, heapUsedBytes: 1, cpuSeconds: 1, startedMs: startMs }),
        readAsset: async () => new Uint8Array(),
        stripTypes: createStripTypes(),
        startHelper: options.startHelper ?? startInlineHelper,
      },
      clock,
      retention,
      ...stores,
      meters,
      eventLoop: { delays: new Durations(DELAY_BOUNDS_SECONDS), takeLongestMs: () => 0 },
      state: {
        get readiness() {
          return readiness;
        },
        stopping: stopping.signal,
        start: { isReady: true, replayedBytes: 0, totalBytes: 0 },
        cluster: null,
        directory: stores.directory,
        opened: () => stores.directory,
      },
      copies: createCopies({
        files,
        dataDir: "/data",
        copySqlite: copyNoSqlite,
        cluster: () => TEST_CLUSTER,
        stallMs: 60_000,
      }),
      secrets: {
        keys,
        sessionSecret: await openTestSecret(clock),
        passPhrases: { boxKeys: () => [] },
        usedCodes: new UsedCodes(clock),
      },
      broker: { status: null, statusFor: () => null },
      baseMap: () => world,
      answers: new AnswerBuffer(ENCODED_RECORD_BYTES, ENCODED_POSITION_BYTES),
      ...(options.bodies === undefined ? {} : { bodies: options.bodies }),
    }),
    loadPlaces: loadTestPlaces,
    ...replaced,
  };
  const server = createServer({
    services,
    rateLimit: createRateLimit(),
    corsOrigins: [],
    requests: meters.requests,
    onFault: (_requestId, error) => faults.push(error),
    onAnswered: null,
    wait: async () => {}, // Never delays answers, so that other tests are fast.
    precompile: false,
    ...replaced,
  });

  return {
    clock,
    files,
    keys: texts,
    sessions: services.sessions,
    readPositions: services.readPositions,
    events: stores.directory.eventStore,
    webhooks: stores.directory.webhooks!,
    faults,
    refused,
    setReadiness: (state) => {
      readiness = state;
      if (state.status === "stopping") stopping.abort();
    },
    answer: server.fetch,
    ...createClient(server.fetch, texts),
  };
}

/** The cluster of a test app that is a node. */
export const TEST_CLUSTER = {
  nodeId: "5d0c2a7be41f9036",
  servers: ["10.0.0.1:4222"],
  isSecure: false,
  stream: "wherehouse",
  created: "2026-01-02T03:04:05.678Z",
  floor: 17,
  lastTaken: { number: 29, id: "5d0c2a7be41f9036.0f3c5a9d21b7.812" },
} as const satisfies ClusterStatus;

/** Opens the real stores over a log on these files, without an archive. Quarantined messages are added to `refused`. */
async function openTestStores(
  files: SimulatedFiles,
  clock: ManualClock,
  retention: Retention,
  refused: RefusedMessage[],
): Promise<TestStores> {
  const scheduler = new Scheduler();
  const hot = createHotStore(scheduler);
  const { messages } = await openMessages({
    files,
    directory: "/data/quarantine",
    damagedDirectory: "/data/damaged",
    coveredSequence: 0,
  });
  messages.endRestore(0);
  const { wal: log } = await openWal({
    files,
    directory: "/data/wal",
    damagedDirectory: "/data/damaged",
    segmentBytesMax: SEGMENT_BYTES_MAX,
    queueBytesMax: LOG_QUEUE_BYTES_MAX,
    sequenceMin: 1,
    onEntry: (entry) => applyToMemory({ hot, messages }, entry),
  });
  hot.keepChanges(log.lastSequence);
  const archive = createEmptyArchive();
  const memory = followLog({ log, hot, messages, schedule: NO_SEALS, scheduler });
  const erasures = await ErasureLedger.open(files, directoryPaths("/data").erasures);
  const onRefusal = () => {};
  const ingest = createIngest({
    ...{ log, blocks: erasures, hot, memory, onRefusal },
    schedule: NO_SEALS,
    hasWholeLog: true,
  });
  const append = createStandingAppend({ log, memory, onRefusal });
  const eventStore = openEvents();
  const editProfile = createEditProfile({ append, hot });
  const editWatches = createEditWatches({ append, hot, scheduler });
  const archived = {
    ...{ hot, clock, retention, scheduler, lateWindow: LATE_WINDOW },
    archive: () => archive,
    acknowledgedParts: async () => new Set<string>(),
  };
  const history = createHistoryQueries(archived);
  const correcting = {
    ...archived,
    append,
    history,
    readPositions: createReadPositions(archived),
    turns: new Turns(),
  };
  const correct = createCorrect({ ...correcting, ingest });
  const quarantine = new Quarantine({
    ...{
      messages,
      append: createQuarantineAppend(append),
      scheduler,
      hasFailed: () => log.state === "failed",
      entryBytesMax: log.entryBytesMax,
      source: "",
      timers: systemTimers,
    },
    sealSoon: () => {},
  });
  const put = quarantine.put.bind(quarantine);
  quarantine.put = (messages) => {
    refused.push(...messages);
    return put(messages);
  };
  await files.makeDirectory("/data/archive");
  await files.replace("/data/archive/manifest.json", encodeManifest(EMPTY_MANIFEST));
  const exports = createExports(
    {
      ...{ hot, clock, retention, scheduler },
      archive: () => archive,
      acknowledgedParts: async () => new Set(),
      sizes: READING_SIZES,
      pathOf: (file) => file,
      files: createNodeFiles(),
      archiveDirectory: tmpdir(),
      scratchDirectory: tmpdir(),
      stallMs: 60_000,
      ...EXPORTS_IN_THREADS,
    },
    undefined,
    exportMakers,
  );
  return {
    hot,
    scheduler,
    files,
    damagedDirectory: "/data/damaged",
    directory: {
      ...{ log, archive, ingest, editProfile, editWatches, correct, quarantine, erasures, exports },
      erase: createErase({
        ...correcting,
        ledger: erasures,
        lateFolds: new LateFolds({ archive, hot, foldLate: async () => null }),
      }),
      eraser: new FileEraser({
        ...{
          hot,
          archive,
          files,
          clock,
          timers: systemTimers,
          directory: "/data/erasures",
          ledger: erasures,
        },
        schedule: { sealNow: () => Promise.reject(new Error("this app has no files")) },
        eraseElsewhere: () => Promise.reject(new Error("this app has no files")),
        onNote: () => undefined,
      }),
      exactIngest: () => ingest,
      damage: [],
      schedule: NO_SEALS,
      eventStore,
      watcher: { backlog: { devices: 0, behindMs: 0 }, isFailing: false },
      webhooks: await openTestWebhooks({ hot, append, clock, eventStore }),
      lead: null,
    },
  };
}

/** Webhooks whose receivers take everything; nothing is sent until the delivery starts. */
async function openTestWebhooks(
  stores: Pick<WebhookStores, "hot" | "append" | "eventStore"> & { readonly clock: ManualClock },
): Promise<OpenWebhooks> {
  const running = { timers: systemTimers, onNote: () => {} };
  return openWebhooks(await createWebhookParts(stores.clock), { ...stores, ...running });
}

/** Receivers that take everything. Names are resolved to addresses outside, but for those that begin with `inside`. */
export async function createWebhookParts(clock: Clock): Promise<WebhookParts> {
  const secretFile = {
    ...{ files: createMemoryKeyFiles(), path: "/data/webhook-secrets.json", clock },
    ...{ acquireLock: createMemoryLock(), process: { pid: 1, command: "serve" } },
  };
  return {
    secrets: await WebhookSecrets.open(secretFile),
    targets: { allowed: [parseIpBlock("10.1.0.0/16")!] },
    post: async () => ({ kind: "answered", status: 200, retryAfter: null, body: "ok" }) as const,
    resolve: async (hostname: string) => [hostname.startsWith("inside") ? "10.2.0.1" : "2600::1"],
    version: "1.2.3",
  };
}

/** Sends requests with the texts of the keys. */
function createClient(
  serve: (request: Request) => Response | Promise<Response>,
  texts: Readonly<Record<KeyName, string>>,
): Pick<TestApp, "fetch" | "get" | "post" | "store"> {
  const fetch = async (path: string, init?: RequestInit) =>
    serve(new Request(`http://localhost${path}`, init));
  const bearer = (key: KeyName | null) => (key === null ? {} : { authorization: `Bearer ${texts[key]}` });
  const post = async (reports: readonly unknown[], key: KeyName | null = "full") =>
    answerOf(
      await fetch("/ingest/v1/locations", {
        method: "POST",
        headers: { ...bearer(key), "content-type": "application/json" },
        body: JSON.stringify({ locations: reports }),
      }),
    );
  return {
    fetch,
    get: async (path, key = "full") => answerOf(await fetch(path, { headers: bearer(key) })),
    post,
    async store(reports, key) {
      const { status, body } = await post(reports, key);
      assert(status === 200 && body.rejected.length === 0, `reports are taken, but ${JSON.stringify(body)}`);
    },
  };
}

export async function answerOf(response: Response): Promise<Answer> {
  const { status, headers } = response;
  return { status, headers, body: (await bodyOf(response)) as AnswerBody };
}

async function bodyOf(response: Response): Promise<unknown> {
  const type = response.headers.get("content-type");
  if (type === "text/event-stream") return { stream: await textOf(response) };
  // A downloaded file is not parsed, even if it is JSON; an empty body counts as a file.
  const isFile = response.headers.has("content-disposition") || type?.startsWith("application/json") !== true;
  return isFile
    ? { file: Buffer.from(await response.arrayBuffer()).toString("latin1") }
    : await response.json();
}

interface TestKeys {
  readonly bytes: Uint8Array | null;
  readonly texts: Readonly<Record<KeyName, string>>;
}

/** Keys by their creation time. Creating keys is slower than opening a store of them. */
const keysByTime = new Map<number, Promise<TestKeys>>();

async function createKeys(clock: ManualClock) {
  const nowMs = clock.nowMs();
  const keys = keysByTime.get(nowMs) ?? createKeysAt(nowMs);
  keysByTime.set(nowMs, keys);
  const { bytes, texts } = await keys;
  const files = createMemoryKeyFiles();
  files.bytes = bytes;
  return { store: await openTestKeyStore(files, clock), texts };
}

function openTestKeyStore(files: MemoryKeyFiles, clock: ManualClock): Promise<KeyStore> {
  return openKeyStore({
    files,
    path: "/data/keys.json",
    clock,
    acquireLock: createMemoryLock(),
    process: { pid: 1, command: "test" },
  });
}

async function createKeysAt(nowMs: number): Promise<TestKeys> {
  const files = createMemoryKeyFiles();
  const clock = createManualClock(nowMs);
  const store = await openTestKeyStore(files, clock);
  const texts: Record<string, string> = {};
  for (const [name, plan] of Object.entries<KeyPlan>(KEYS)) {
    const created = await store.create({
      appId: (plan.appId ?? APP_ID) as AppId,
      permissions: plan.permissions,
      view: plan.view === undefined ? null : ({ ...plan.view, notBeforeMs: VIEWS_FROM_MS } as ViewSpec),
      tier: plan.tier ?? "unlimited",
      label: name,
      deviceId: plan.deviceId ?? null,
      userId: plan.userId ?? null,
      expiresMs: plan.lifeMs === undefined ? null : clock.nowMs() + plan.lifeMs,
    });
    assert(created.ok, "a key store in memory takes keys");
    texts[name] = created.value.text;
    if (name === "revoked") await store.revoke(created.value.key.id);
  }
  return { bytes: files.bytes, texts: texts as Record<KeyName, string> };
}

function openTestSecret(clock: ManualClock): Promise<SessionSecret> {
  return SessionSecret.open({
    files: createMemoryKeyFiles(),
    path: "/data/session-secret",
    clock,
    acquireLock: createMemoryLock(),
    process: { pid: 1, command: "test" },
  });
}

/** Builds a path with a percent-encoded query. */
export function pathOf(
  path: string,
  query: Readonly<Record<string, string | number | boolean>> = {},
): string {
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return pairs.length === 0 ? path : `${path}?${pairs.join("&")}`;
}
