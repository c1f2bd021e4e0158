import { fail, ok, type Result } from "../../lib/result.ts";
import { Semaphore } from "../../lib/schedule/semaphore.ts";
import { compareUtf8 } from "../../lib/text/utf8.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import { doneWithin } from "../../runtime/listen.ts";
import { type Caller, findDevice } from "../queries/find-device.ts";
import { correctedDevices } from "./export-devices.ts";
import type { ExportQuery } from "./export-formats.ts";
import { describeExport, type Export, type ExportDependencies, ExportJob } from "./export-job.ts";
import { ExportMakers, type ExportMakersOptions } from "./maker/export-makers.ts";

/** Exports records of memory and archive as files. */
export interface Exports {
  /**
   * Starts a file; resolves with its first piece. The signal ends it, as does a client that reads nothing for a minute.
   */
  start(query: ExportQuery, caller: Caller): Promise<Result<Export, ServiceError>>;
  /** The result that `start` would have, without a slot and without reading records. */
  describe(query: ExportQuery): Promise<Result<Pick<Export, "isIncomplete">, ServiceError>>;
  /** Running exports. */
  readonly running: number;
  /** Ends all exports and their makers. It does not wait long for a native call in a thread. */
  stop(): Promise<void>;
}

export interface ExportLimits {
  readonly runningMax: number;
  readonly runningOfAppMax: number;
}

/** More would only compete for the same disk and cores. */
const EXPORT_LIMITS: ExportLimits = { runningMax: 4, runningOfAppMax: 2 };

/** How long a request waits for an export that is about to end, and a stop for a thread that can't be killed. */
const ENDING_MS_MAX = 2500;

const TOO_MANY: ServiceError = {
  kind: "unavailable",
  message: "too many exports are under way; try again once one has ended",
  retryAfterSeconds: 30,
};

const STOPPING: ServiceError = {
  kind: "unavailable",
  message: "the server is stopping",
  retryAfterSeconds: 5,
};

export function createExports(
  dependencies: ExportDependencies & ExportMakersOptions,
  limits = EXPORT_LIMITS,
  makers = new ExportMakers(dependencies),
): Exports {
  const slots = new Semaphore(limits.runningMax, {
    runningOfOwnerMax: limits.runningOfAppMax,
    waitingMax: 0,
  });
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  /** Running exports whose client is gone; they end within tenths of a second. */
  const ending = new Set<Promise<void>>();

  /** Whether there is a slot, now or once an export has ended that is about to. */
  async function enter(appId: AppId, signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted && slots.enter(appId) === "refused") {
      if (ending.size === 0) return false;
      if (!(await doneWithin(Promise.race(ending), ENDING_MS_MAX))) return false;
    }
    return !signal.aborted;
  }

  function run(query: ExportQuery, listed: readonly DeviceId[] | null, signal: AbortSignal): ExportJob {
    const job = new ExportJob(dependencies, makers, query, listed, signal);
    const left = job.over.finally(() => {
      slots.leave(query.appId);
      running.delete(left);
      ending.delete(left);
    });
    running.add(left);
    void job.settled.then(() => running.has(left) && ending.add(left));
    return job;
  }

  return {
    async start(query, caller) {
      const listed = listDevices(dependencies, query);
      if (!listed.ok) return listed;
      const signal = AbortSignal.any([caller.signal, stopping.signal]);
      const refusal = () => fail(stopping.signal.aborted ? STOPPING : TOO_MANY);
      if (!(await enter(query.appId, signal))) return refusal();
      return run(query, listed.value, signal).begun.catch((error) => {
        if (!stopping.signal.aborted) throw error;
        return refusal();
      });
    },
    async describe(query) {
      if (stopping.signal.aborted) return fail(STOPPING);
      const listed = listDevices(dependencies, query);
      return listed.ok ? describeExport(dependencies, query) : listed;
    },
    get running() {
      return slots.running;
    },
    async stop() {
      stopping.abort(new Error("the server is stopping"));
      makers.stop();
      await doneWithin(Promise.all(running), ENDING_MS_MAX);
    },
  };
}

/** Checks that the requested devices belong to the app. */
function listDevices(
  dependencies: ExportDependencies,
  { appId, deviceIds, originals }: ExportQuery,
): Result<readonly DeviceId[] | null, ServiceError> {
  if (deviceIds === null) return ok(null);
  const corrected = originals ? new Set<string>(correctedDevices(dependencies.hot, appId)) : null;
  for (const deviceId of deviceIds) {
    const match = findDevice(dependencies, appId, deviceId);
    if (!match.ok && corrected?.has(deviceId) !== true) return match;
  }
  return ok([...new Set(deviceIds as readonly DeviceId[])].sort(compareUtf8));
}
