import type { PassPhrases } from "../../../auth/pass-phrases.ts";
import type { Client, ClientMessage } from "../../../clients/client.ts";
import { readerOf } from "../../../clients/clients.ts";
import { type Address, BROKER_KEY_ID, type Sender } from "../../../clients/identity.ts";
import { maybeSettings } from "../../../clients/owntracks/apps.ts";
import { openBox } from "../../../clients/owntracks/encryption.ts";
import type { ValueFault } from "../../../clients/point.ts";
import type { RefusedMessage } from "../../../clients/refused-message.ts";
import type { Blocks } from "../../../directory/erasure-ledger.ts";
import { fail, ok, type Result } from "../../../lib/result.ts";
import type { Scheduler } from "../../../lib/schedule/scheduler.ts";
import type { Steps } from "../../../lib/schedule/steps.ts";
import type { ServiceError } from "../../../model/errors.ts";
import type { ReportBatch } from "../../../model/report-batch.ts";
import type { Clock } from "../../../model/time/clock.ts";
import type { Retention } from "../../../model/time/retention.ts";
import type { Doctor } from "../../doctor/doctor.ts";
import type { IngestedReports } from "../../doctor/ingested-reports.ts";
import { bodiesOf, type Ingest, ingestBatches } from "../ingest.ts";
import type { MessageCounts } from "./message-counts.ts";
import { PointCollector } from "./point-collector.ts";
import { type MessageEnvelope, refusedMessages } from "./refused-messages.ts";

/** The result of a message. All of it is on disk: the usable points in the log, the others in the quarantine. */
export interface IngestedMessage {
  /** The client whose format the message had, which decides the form of the answer. */
  readonly answeredBy: Client;
  readonly collected: PointCollector;
  readonly batches: readonly ReportBatch[];
  readonly accepted: number;
  readonly duplicates: number;
}

/**
 * Stores a client's message, whatever it contains, as reports or in the quarantine. An error is the server's fault, and
 * the client should send the message again.
 */
export type IngestMessage = (
  envelope: MessageEnvelope,
  client: Client,
) => Promise<Result<IngestedMessage, ServiceError>>;

interface IngestMessageDependencies {
  readonly ingest: Ingest;
  /** Stores unusable messages; they are on disk when it resolves. */
  readonly quarantineRefused: (messages: readonly RefusedMessage[]) => Promise<Result<void, ServiceError>>;
  /** Notified of every message that has just arrived. */
  readonly doctor: Pick<Doctor, "note">;
  readonly blocks: Blocks;
  readonly counts: MessageCounts;
  readonly scheduler: Scheduler;
  readonly clock: Clock;
  readonly retention: Retention;
}

/** A replayed message is older, and tells nothing of its device's present state. */
const JUST_ARRIVED_MS = 60_000;

/**
 * The program did not exist before this. A machine without a battery-backed clock starts in 1970: all reports would be
 * in the future, go to the quarantine, be acknowledged and deleted by the phones, and expire a day after the clock is
 * set.
 */
const EARLIEST_NOW_MS = Date.UTC(2026, 0, 1);

const WRONG_CLOCK: ServiceError = {
  kind: "unavailable",
  message: "this machine's clock is wrong: nothing is taken until it is set",
  retryAfterSeconds: 30,
};

export function createIngestMessage(dependencies: IngestMessageDependencies): IngestMessage {
  const { ingest, quarantineRefused, blocks, doctor, counts, scheduler, clock, retention } = dependencies;

  return async function ingestMessage(envelope, client) {
    const { sender, address, message } = envelope;
    if (clock.nowMs() < EARLIEST_NOW_MS) return fail(WRONG_CLOCK);
    // Through a broker a phone can't impersonate another, because OwnTracks' reader identifies it by the topic alone.
    const reader = message.topic === null ? readerOf(client, message.content) : client;
    const { arrivedMs } = message;
    const nowMs = clock.nowMs();
    const oldestMs = retention.startMs(nowMs);
    const rules = { sender, address, client: reader, arrivedMs, nowMs, oldestMs };
    const collected = new PointCollector({ ...rules, blocks: blocks.blocked(sender.appId) });
    const owner = bodiesOf(sender.appId);
    const batches = await scheduler.run(owner, readPoints(reader, envelope, collected));
    const stored = await ingestBatches(ingest, sender.appId, batches);
    if (!stored.ok) return stored;
    if (collected.refused.length > 0) {
      const messages = refusedMessages(envelope, client.name, collected.refused);
      const quarantined = await quarantineRefused(await scheduler.run(owner, messages));
      if (!quarantined.ok) return quarantined;
    }
    const { accepted, duplicates } = stored.value;
    const ingested = { answeredBy: reader, collected, batches, accepted, duplicates };
    counts.note(reader.name, ingested);
    if (nowMs - arrivedMs < JUST_ARRIVED_MS) {
      doctor.note(sender, reader.name, ingestedReports(arrivedMs, ingested));
    }
    return ok(ingested);
  };
}

function* readPoints(
  reader: Client,
  { message, source }: MessageEnvelope,
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

/** The doctor's record of a message. */
function ingestedReports(
  arrivedMs: number,
  { collected, batches, duplicates }: IngestedMessage,
): IngestedReports {
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

/** Decrypts messages of a sender's devices with the passphrases that the operator has set. */
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
