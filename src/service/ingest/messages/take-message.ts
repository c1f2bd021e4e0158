import type { PassPhrases } from "../../../auth/pass-phrases.ts";
import type { Client, ClientMessage } from "../../../clients/client.ts";
import { readerOf } from "../../../clients/clients.ts";
import { type Address, BROKER_KEY_ID, type Sender } from "../../../clients/identity.ts";
import { maybeSettings } from "../../../clients/owntracks/apps.ts";
import { openBox } from "../../../clients/owntracks/encryption.ts";
import type { ValueFault } from "../../../clients/point.ts";
import type { RefusedMessage } from "../../../clients/refused-message.ts";
import { fail, ok, type Result } from "../../../lib/result.ts";
import type { Scheduler } from "../../../lib/schedule/scheduler.ts";
import type { Steps } from "../../../lib/schedule/steps.ts";
import type { ServiceError } from "../../../model/errors.ts";
import type { ReportBatch } from "../../../model/report-batch.ts";
import type { Clock } from "../../../model/time/clock.ts";
import type { Retention } from "../../../model/time/retention.ts";
import type { Doctor } from "../../doctor/doctor.ts";
import type { TakenReports } from "../../doctor/taken-reports.ts";
import { bodiesOf, type Ingest, ingestBatches } from "../ingest.ts";
import type { MessageCounts } from "./message-counts.ts";
import { PointCollector } from "./point-collector.ts";
import { refusedMessages, type SentMessage } from "./refused-messages.ts";

/** What came of a message. All of it is on disk: its points in the log, the others in the quarantine. */
export interface TakenMessage {
  /** Whose shape the message had, which says how it is answered. */
  readonly answeredBy: Client;
  readonly collected: PointCollector;
  readonly batches: readonly ReportBatch[];
  readonly accepted: number;
  readonly duplicates: number;
}

/**
 * Takes in what a client sent. The error is one of ours, after which the client should send all of it again: whatever
 * a message holds, it is taken, as reports or into the quarantine.
 */
export type TakeMessage = (sent: SentMessage, client: Client) => Promise<Result<TakenMessage, ServiceError>>;

interface TakeMessageDependencies {
  readonly ingest: Ingest;
  /** Keeps what can't be used; what it answers is on the disk. */
  readonly keepRefused: (messages: readonly RefusedMessage[]) => Promise<Result<void, ServiceError>>;
  /** Told of every message that was taken when it came. */
  readonly doctor: Pick<Doctor, "note">;
  readonly counts: MessageCounts;
  readonly scheduler: Scheduler;
  readonly clock: Clock;
  readonly retention: Retention;
}

/** One that came earlier is tried again: it tells nothing of how its device does now. */
const JUST_ARRIVED_MS = 60_000;

/**
 * Before this there was no such program. A machine without a clock of its own begins in 1970, and all that phones send
 * would be in its future: told that it is kept, they would delete it, and a day after the clock is set it had expired.
 */
const EARLIEST_NOW_MS = Date.UTC(2026, 0, 1);

const WRONG_CLOCK: ServiceError = {
  kind: "unavailable",
  message: "this machine's clock is wrong: nothing is taken until it is set",
  retryAfterSeconds: 30,
};

export function createTakeMessage(dependencies: TakeMessageDependencies): TakeMessage {
  const { ingest, keepRefused, doctor, counts, scheduler, clock, retention } = dependencies;

  return async function takeMessage(sent, client) {
    const { sender, address, message } = sent;
    if (clock.nowMs() < EARLIEST_NOW_MS) return fail(WRONG_CLOCK);
    // A broker lets a phone publish as itself alone, by the topic, which only OwnTracks' reading goes by.
    const reader = message.topic === null ? readerOf(client, message.content) : client;
    const { arrivedMs } = message;
    const nowMs = clock.nowMs();
    const oldestMs = retention.startMs(nowMs);
    const collected = new PointCollector({ sender, address, client: reader, arrivedMs, nowMs, oldestMs });
    const owner = bodiesOf(sender.appId);
    const batches = await scheduler.run(owner, readPoints(reader, sent, collected));
    const stored = await ingestBatches(ingest, sender.appId, batches);
    if (!stored.ok) return stored;
    if (collected.refused.length > 0) {
      const messages = refusedMessages(sent, client.name, collected.refused);
      const kept = await keepRefused(await scheduler.run(owner, messages));
      if (!kept.ok) return kept;
    }
    const { accepted, duplicates } = stored.value;
    const taken = { answeredBy: reader, collected, batches, accepted, duplicates };
    counts.note(reader.name, taken);
    if (nowMs - arrivedMs < JUST_ARRIVED_MS) {
      doctor.note(sender, reader.name, takenReports(arrivedMs, taken));
    }
    return ok(taken);
  };
}

function* readPoints(
  reader: Client,
  { message, source }: SentMessage,
  collected: PointCollector,
): Steps<readonly ReportBatch[]> {
  const { content, query } = message;
  if (content.kind === "unreadable") {
    if (maybeSettings(source.body)) collected.skip("unreadable settings");
    else collected.refuse("bad_json");
  } else if (content.kind !== "empty" || query.size > 0) {
    yield* reader.read(message, collected);
    if (collected.isEmpty) collected.refuse("unknown_shape");
  }
  return collected.batches();
}

const FAULT_WORDS: Readonly<Record<ValueFault, string>> = {
  absent: "absent",
  unreadable: "there, but can't be read",
  out_of_range: "out of range",
};

/** What the doctor is told. */
function takenReports(arrivedMs: number, { collected, batches, duplicates }: TakenMessage): TakenReports {
  const { skipped, leftOut, timedByArrival } = collected;
  const refused = collected.refused.map(({ deviceId, reason, raw, index, fault }) => ({
    deviceId,
    reason,
    fault: fault?.fault ?? null,
    detail: fault === null ? null : `${fault.field} is ${FAULT_WORDS[fault.fault]}`,
    position: raw === undefined ? null : `points[${index}]`,
  }));
  return { arrivedMs, batches, duplicates, refused, skipped, leftOut, timedByArrival };
}

/** Opens what a sender's devices encrypt, as far as the operator told their pass phrases. */
export function decryptOf(
  passPhrases: Pick<PassPhrases, "boxKeys">,
  { appId, keyId, deviceId }: Pick<Sender, "appId" | "keyId" | "deviceId">,
  address: Address,
): ClientMessage["decrypt"] {
  const known = deviceId ?? address.device;
  return function* decrypt(claimed, box) {
    const encrypter = { appId, keyId: keyId === BROKER_KEY_ID ? null : keyId, deviceId: known ?? claimed };
    for (const boxKey of passPhrases.boxKeys(encrypter)) {
      const opened = yield* openBox(boxKey, box);
      if (opened !== null) return opened;
      yield;
    }
    return null;
  };
}
