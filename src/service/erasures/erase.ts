import type { ErasureLedger, ErasureSubject, NewLedgerErasure } from "../../directory/erasure-ledger.ts";
import type { HeldErasure } from "../../hot/erasures.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { ErasedScope, Erasure } from "../../model/erasure.ts";
import type { ErasureEntry, NewestOfDevice } from "../../model/erasure-entry.ts";
import { type ServiceError, unavailable } from "../../model/errors.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import { ignoreFileError } from "../../runtime/files.ts";
import { createCorrectionId } from "../corrections/correction-id.ts";
import type { NewestDependencies } from "../corrections/newest-record.ts";
import type { Turns } from "../corrections/turns.ts";
import { refusalError } from "../ingest/ingest.ts";
import { appendAll, type StandingAppend } from "../ingest/standing-append.ts";
import type { Caller } from "../queries/find-device.ts";
import type { HistoryQueries } from "../queries/history/history.ts";
import { correctionsInTheWay, goingWith } from "./in-the-way.ts";
import type { LateFolds } from "./late-folds.ts";
import type { NewErasure } from "./new-erasure.ts";
import { findNewestLeft, findNewestOfLost } from "./newest-left.ts";
import { devicesOfUser, devicesShownAs } from "./subject-devices.ts";

/** What an erasure takes with it. */
export interface ErasureCounts {
  /** Devices whose records go: more than one if others show as it, or if it is a user's. */
  readonly devices: number;
  /** Corrections that go with the records. */
  readonly corrections: number;
}

/** What an erasure would destroy. */
export interface ErasurePreview extends ErasureCounts {
  /** Records that answers show. */
  readonly records: number;
}

/** An erasure that answers follow, and its entry of the log. Its report counts the records. */
export interface Erased {
  readonly erasure: Erasure;
  readonly counts: ErasureCounts;
  readonly sequence: number;
}

/** Who asks. */
export interface ErasureRequest {
  readonly keyId: string;
  readonly nowMs: number;
  /** The id of the ledger's erasure that is made again; a new one by default. */
  readonly id?: string;
}

/**
 * Destroys what is stored of a device or a user. Once it is answered, no answer shows any of it, and its entry is on
 * disk; files are rewritten after that.
 */
export interface Erase {
  create(
    appId: AppId,
    wanted: NewErasure,
    request: ErasureRequest,
    caller: Caller,
  ): Promise<Result<Erased, ServiceError>>;
  preview(appId: AppId, wanted: NewErasure, caller: Caller): Promise<Result<ErasurePreview, ServiceError>>;
}

export interface EraseDependencies extends Omit<NewestDependencies, "history"> {
  readonly history: Pick<HistoryQueries, "ofDevice" | "ofUser">;
  readonly append: StandingAppend;
  readonly lateFolds: Pick<LateFolds, "foldAll">;
  readonly ledger: Pick<ErasureLedger, "add" | "blockMeanwhile">;
  /** Those of corrections: what an erasure takes with it is not corrected meanwhile. */
  readonly turns: Turns;
}

/** Erasures of an app that may be unfinished: each makes all reads of its archive compare with one more. */
export const PENDING_ERASURES_MAX = 64;

/** Other nodes may make corrections of the app meanwhile. */
const ATTEMPTS_MAX = 8;

export function createErase(dependencies: EraseDependencies): Erase {
  const { hot, append, ledger, lateFolds, turns } = dependencies;

  /** What is blocked is so from the moment in which the first entry gets its place in the log. */
  async function make(entries: readonly ErasureEntry[]): Promise<Result<number, ServiceError>> {
    const { erasure } = entries[0]!;
    const { block } = erasure;
    const endBlock = block ? ledger.blockMeanwhile(subjectOf(erasure)) : () => undefined;
    try {
      const appended = await appendAll(append, entries);
      if (!appended.ok) return fail(refusalError(appended.error));
      const sequence = appended.value;
      const added = await ledger.add(ledgerLine({ ...erasure, sequence })).catch(ignoreFileError);
      // Else the eraser of files adds it later, but only the ledger keeps a block.
      const isBlocked = added?.ok === true || !block;
      return isBlocked
        ? ok(sequence)
        : fail(unavailable("erasures.json can't be written: nothing is blocked", 30));
    } finally {
      endBlock();
    }
  }

  /** Erases once more if corrections or erasures of other nodes came between the plan and its entries. */
  async function createAlone(
    appId: AppId,
    wanted: NewErasure,
    { keyId, nowMs, id: firstId }: Required<ErasureRequest>,
    caller: Caller,
  ): Promise<Result<Erased, ServiceError>> {
    let lost: readonly NewestOfDevice[] = [];
    let counts: ErasureCounts | null = null;
    for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts++) {
      const planned = await planAlone(dependencies, appId, wanted, caller);
      if (!planned.ok) return planned;
      const { scope, corrections, newest, previous } = planned.value;
      counts ??= countsOf(planned.value);
      const id = attempts === 0 ? firstId : createCorrectionId(nowMs);
      const common = { id, block: wanted.block, createdMs: nowMs, createdBy: keyId, continues: false };
      const erasure = { ...scope, ...common };
      const going = scope.userId === null ? [] : corrections;
      const entries = erasureEntries(erasure, previous, [...newest, ...lost], going);
      const sequence = await make(entries);
      if (!sequence.ok) return sequence;
      const { erasures } = hot;
      if (erasures.findRecent(id)?.isCurrent !== false)
        return ok({ erasure, counts, sequence: sequence.value });
      const deviceIds = erasures.pending().flatMap((each) => (each.id === id ? each.lost : []));
      const archived = await findNewestOfLost(dependencies, appId, deviceIds, caller);
      if (!archived.ok) return archived;
      lost = archived.value;
    }
    return fail(OTHERS_CORRECT);
  }

  return {
    async preview(appId, wanted, caller) {
      const planned = await plan(dependencies, appId, wanted, caller);
      return planned.ok ? preview(dependencies, planned.value, caller) : planned;
    },
    create: (appId, wanted, { keyId, nowMs, id = createCorrectionId(nowMs) }, caller) =>
      turns.run({ appId, keyId, signal: caller.signal }, async () => {
        const pending = hot.erasures.ofApp(appId).filter(({ continues }) => !continues);
        if (pending.length >= PENDING_ERASURES_MAX) return fail(TOO_MANY);
        const { subject } = wanted;
        if ("userId" in subject) {
          const findDevices = () => devicesOfUser(dependencies, appId, subject.userId, caller);
          const isReady = await lateFolds.foldAll(appId, findDevices, nowMs);
          if (!isReady.ok) return isReady;
        }
        return createAlone(appId, wanted, { keyId, nowMs, id }, caller);
      }),
  };
}

async function preview(
  dependencies: EraseDependencies,
  planned: PlannedErasure,
  caller: Caller,
): Promise<Result<ErasurePreview, ServiceError>> {
  const records = await countShown(dependencies, planned.scope, planned.deviceIds, caller);
  return records.ok ? ok({ records: records.value, ...countsOf(planned) }) : records;
}

function countsOf({ deviceIds, corrections }: PlannedErasure): ErasureCounts {
  return { devices: deviceIds.size, corrections: corrections.length };
}

/** Plans again if corrections or erasures of other nodes came meanwhile. */
async function planAlone(dependencies: EraseDependencies, appId: AppId, wanted: NewErasure, caller: Caller) {
  const { hot } = dependencies;
  for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts++) {
    const previous = hot.corrections.find(appId)?.number ?? 0;
    const planned = await plan(dependencies, appId, wanted, caller);
    if (!planned.ok) return planned;
    const newest = await findNewestLeft(dependencies, planned.value.scope, planned.value.deviceIds, caller);
    if (!newest.ok) return newest;
    if ((hot.corrections.find(appId)?.number ?? 0) === previous)
      return ok({ ...planned.value, newest: newest.value, previous });
  }
  return fail(OTHERS_CORRECT);
}

/** What an erasure covers, once nothing is in its way. */
async function plan(
  dependencies: EraseDependencies,
  appId: AppId,
  { subject, range }: NewErasure,
  caller: Caller,
): Promise<Result<PlannedErasure, ServiceError>> {
  const isOfDevice = "deviceId" in subject;
  const devices = isOfDevice
    ? ok(devicesShownAs(dependencies, appId, [subject.deviceId, ...(subject.others ?? [])]))
    : await devicesOfUser(dependencies, appId, subject.userId, caller);
  if (!devices.ok) return devices;
  const deviceIds = new Set(devices.value);
  const userId = isOfDevice ? null : subject.userId;
  const scope = { appId, deviceIds: isOfDevice ? devices.value : [], userId, range };
  const inTheWay = await correctionsInTheWay(dependencies, scope, deviceIds, caller);
  if (!inTheWay.ok) return inTheWay;
  if (inTheWay.value.length > 0) return fail({ kind: "corrections_in_the_way", ids: inTheWay.value });
  const ofApp = dependencies.hot.corrections.find(appId);
  const going = ofApp === null ? [] : goingWith(ofApp, scope, deviceIds);
  return ok({ scope, deviceIds, corrections: going.map(({ correction }) => correction.id) });
}

/** What an erasure covers. */
interface PlannedErasure {
  readonly scope: ErasedScope;
  /** Also of a user: those that reported with it. */
  readonly deviceIds: ReadonlySet<DeviceId>;
  /** Those that go with it. */
  readonly corrections: readonly string[];
}

/** Newest records in one entry of the log: some hundred bytes each, 5 KB at most, of the 1 MB that a stream takes. */
export const NEWEST_MAX = 200;

/**
 * The entries of an erasure: one, unless many devices have another newest record from then on. The others continue it,
 * since an entry must not be long.
 */
function erasureEntries(
  erasure: Erasure,
  previous: number,
  newest: readonly NewestOfDevice[],
  corrections: readonly string[],
): ErasureEntry[] {
  const { appId } = erasure;
  const entry: ErasureEntry = {
    ...{ kind: "erasure", appId, previous, erasure },
    newest: newest.slice(0, NEWEST_MAX),
    corrections,
  };
  const entries: ErasureEntry[] = [entry];
  for (let from = NEWEST_MAX; from < newest.length; from += NEWEST_MAX) {
    const some = newest.slice(from, from + NEWEST_MAX);
    entries.push({ ...entry, erasure: { ...erasure, continues: true }, newest: some, corrections: [] });
  }
  return entries;
}

/** What the ledger has of an erasure. */
export function ledgerLine(erasure: Omit<HeldErasure, "lost">): NewLedgerErasure {
  const { id, sequence, block, createdMs, range, deviceIds, userId } = erasure;
  const others = userId === null ? deviceIds.slice(1) : [];
  return { id, sequence, block, createdMs, ...range, subject: subjectOf(erasure), others };
}

/** What an erasure is about, by the id that was asked for. */
export function subjectOf({ appId, deviceIds, userId }: ErasedScope): ErasureSubject {
  return userId === null ? { kind: "device", appId, id: deviceIds[0]! } : { kind: "user", appId, id: userId };
}

const OTHERS_CORRECT = unavailable("other nodes correct this app at the same time; send again", 1);

const TOO_MANY = unavailable(`${PENDING_ERASURES_MAX} erasures of the app are not finished yet`, 60);

/** How many records answers show of the subject. */
async function countShown(
  { hot, history, clock, retention }: EraseDependencies,
  { appId, userId, range }: ErasedScope,
  deviceIds: ReadonlySet<DeviceId>,
  caller: Caller,
): Promise<Result<number, ServiceError>> {
  const newestOf = (id: DeviceId) => hot.findApp(appId)?.find(id)?.newestMs ?? Number.NEGATIVE_INFINITY;
  const shownIds = [...deviceIds, ...hot.aliases(appId, null).map(({ shownId }) => shownId)];
  // No spread: a user may have more devices than a call takes arguments.
  const newestMs = shownIds.reduce((ms, id) => Math.max(ms, newestOf(id)), Number.NEGATIVE_INFINITY);
  const countedRange = {
    startMs: Math.max(range.startMs, retention.startMs(clock.nowMs())),
    endMs: Math.min(range.endMs, newestMs + 1),
  };
  if (countedRange.startMs >= countedRange.endMs) return ok(0);
  const page = { order: "asc", offset: 0, limit: 1, accuracyMetersMax: null, withDistance: false } as const;
  const query = { ...page, range: countedRange, withTotal: true };
  const [deviceId] = deviceIds;
  if (userId === null && newestOf(deviceId!) < countedRange.startMs) return ok(0);
  const answer = await (userId === null
    ? history.ofDevice(appId, deviceId!, query, caller)
    : history.ofUser(appId, userId, query, caller));
  return answer.ok ? ok(answer.value.total ?? 0) : answer;
}
