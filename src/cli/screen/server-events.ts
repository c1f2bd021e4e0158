import type { AppEvents } from "../../app/app.ts";
import type { OpenDirectory } from "../../app/directory.ts";
import { StreamError } from "../../cluster/stream/stream.ts";
import type { Damage } from "../../directory/damaged-files.ts";
import { messageOf } from "../../lib/message-of.ts";
import type { SealReport } from "../../service/upkeep/seal/seal.ts";
import type { LogRefusal } from "../../wal/log.ts";
import { damageLine, didAnything, entryLeftOutLine, sealSummary } from "./directory-report.ts";
import type { EventLog } from "./event-log.ts";
import { countOf } from "./layout.ts";
import { mqttEvents } from "./mqtt-events.ts";

/** Logs the server's events. Of a client's data only the request's id is logged. `crash` ends the process. */
export function logEvents(log: EventLog, startedMs: number, crash: (error: unknown) => void): AppEvents {
  return {
    onReady: (opened) => logReady(log, opened, secondsOf(performance.now() - startedMs)),
    onWaiting: atMostEvery(REPEAT_NOTICE_MS, (err: unknown) => {
      const cause = err instanceof StreamError ? {} : { err }; // A stream error needs no stack.
      log.warn({ event: "start_waits", ...cause }, `The start is delayed, retrying: ${messageOf(err)}`);
    }),
    onRefusal: createRefusalNotice(log),
    onLogNote: (note) => log.warn({ event: "log" }, `Log: ${note}`),
    onArchiveNote: (note) => log.warn({ event: "archive" }, `Archive: ${note}`),
    onSealed: (report) => logSeal(log, report),
    onSealFailed: (err) => log.error({ event: "seal_failed", err }, SEAL_FAILED),
    onDamage: (damage) => logDamage(log, damage),
    onEntryLeftOut: (err) =>
      log.error({ event: "entry_left_out", sequence: err.sequence, err }, entryLeftOutLine(err)),
    onBroken: crash,
    onKeyFile: (reason) => log.warn({ event: "keys" }, `Keys: ${reason}`),
    onMapNote: (note) => log.warn({ event: "map" }, `Map: ${note}`),
    onRetention: (text) =>
      log.info({ event: "retention", retention: text }, `The retention is ${text} (settings set retention).`),
    onSettingsFile: (reason) => log.warn({ event: "settings" }, `Settings: ${reason}`),
    onFault: createFaultNotice(log),
    onHeldUp: atMostEvery(REPEAT_NOTICE_MS, (delayMs: number) =>
      log.warn(
        { event: "held_up", seconds: secondsOf(delayMs) },
        `The server answered nothing for ${(delayMs / 1000).toFixed(1)} s: it or the machine was busy.`,
      ),
    ),
    mqtt: mqttEvents(log, REPEAT_NOTICE_MS),
    onAnswered: log.isLevelEnabled("debug") ? (answered) => logRequest(log, answered) : null,
  };
}

function logReady(log: EventLog, { hot, archive, damage, tornTails }: OpenDirectory, seconds: number): void {
  const { recordCount: records, deviceCount: devices } = hot;
  const days = archive.manifest.days.size;
  const sealed = days === 0 ? "" : ` and ${countOf(days, "archived day")}`;
  log.info(
    { event: "ready", seconds, records, devices, archived_days: days },
    `Ready after ${seconds.toFixed(1)} s with ${countOf(records, "record")} of ${countOf(devices, "device")}${sealed}.`,
  );
  for (const { file, offset, bytes } of tornTails) {
    log.info(
      { event: "torn_write", file, offset, bytes },
      `Removed the last write to ${file}: it was never finished, nor acknowledged.`,
    );
  }
  logDamage(log, damage);
}

function logDamage(log: EventLog, damage: readonly Damage[]): void {
  for (const each of damage) {
    const { file, offset, bytes, savedAs } = each;
    log.warn(
      { event: "damage", file, offset, bytes, saved_as: savedAs },
      `${damageLine(each)} The rest is served.`,
    );
  }
}

/** This holds even if the write of the manifest failed and may or may not have reached the disk. */
const SEAL_FAILED =
  "Sealing failed. Nothing is lost: the log and memory still have the records, and the next seal tries again";

function logSeal(log: EventLog, report: SealReport): void {
  if (!didAnything(report)) return;
  const { records, bytes, parts, durationMs, logBytes, unfinished } = report;
  const level = unfinished === null ? "info" : "warn";
  log[level](
    {
      event: "sealed",
      seconds: secondsOf(durationMs),
      days: report.days.length,
      records,
      parts,
      bytes,
      log_bytes_freed: logBytes,
      blocked: report.blocked,
      unfinished,
    },
    sealSummary(report),
  );
}

function logRequest(
  log: EventLog,
  { requestId, method, route, status, durationMs }: Parameters<NonNullable<AppEvents["onAnswered"]>>[0],
): void {
  const seconds = secondsOf(durationMs);
  log.debug(
    { event: "request", request_id: requestId, method, route, status, seconds },
    `${method} ${route} ${status} in ${durationMs.toFixed(1)} ms`,
  );
}

/** Seconds, rounded to microseconds: the digits below are noise. */
function secondsOf(durationMs: number): number {
  return Math.round(durationMs * 1000) / 1e6;
}

const REPEAT_NOTICE_MS = 60_000;

/** Logs why reports are refused: when it begins, when the reason changes, and once a minute while it lasts. */
function createRefusalNotice(log: EventLog): (refusal: LogRefusal) => void {
  let lastKind = "";
  let lastMs = Number.NEGATIVE_INFINITY;
  return (refusal) => {
    if (refusal.kind === lastKind && performance.now() - lastMs < REPEAT_NOTICE_MS) return;
    lastKind = refusal.kind;
    lastMs = performance.now();
    const err = "cause" in refusal ? (refusal.cause ?? undefined) : undefined;
    const cause = err === undefined ? "" : `: ${messageOf(err)}`;
    log.warn({ event: refusal.kind, err }, `Reports are refused, ${REFUSAL_TEXTS[refusal.kind]}${cause}`);
  };
}

/**
 * Logs which request failed. A string says that the archive has lost records, which fails every request that needs
 * them: it is logged once a minute, with the count of the others.
 */
function createFaultNotice(log: EventLog): AppEvents["onFault"] {
  let lastMs = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  return (requestId, err) => {
    const failed = `Failed to answer request ${requestId}`;
    if (typeof err !== "string") return log.error({ event: "fault", request_id: requestId, err }, failed);
    if (performance.now() - lastMs < REPEAT_NOTICE_MS) {
      unlogged++;
      return;
    }
    const others = unlogged === 0 ? "" : `, and ${unlogged} others since the last such line`;
    log.error({ event: "fault", request_id: requestId, err, others: unlogged }, `${failed}${others}`);
    lastMs = performance.now();
    unlogged = 0;
  };
}

function atMostEvery<Value>(intervalMs: number, say: (value: Value) => void): (value: Value) => void {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (value) => {
    if (performance.now() - lastMs < intervalMs) return;
    lastMs = performance.now();
    say(value);
  };
}

const REFUSAL_TEXTS: Readonly<Record<LogRefusal["kind"], string>> = {
  log_full: "the disk is full; they are accepted again once there is space",
  log_unopened: "no file can be opened; they are accepted again once one can",
  log_failed: "the disk failed and can't be trusted until a restart",
  log_queue_full: "the queue for the disk is full",
  log_unreachable: "no majority of the log's servers answers; they are accepted again once one does",
  log_entry_too_long: "one of them is longer than the log's servers allow",
  log_closed: "the server is stopping",
};
