import {
  DiscardPolicy,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  StoreCompression,
  type StreamConfig,
  type StreamInfo,
} from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { API_ERRORS, isApiError } from "./nats-errors.ts";
import type { NatsLink } from "./nats-link.ts";
import { StreamError, type StreamOptions } from "./stream.ts";

/** With three replicas, a majority survives the loss of one. */
export const REPLICAS = 3;

/** A message that is published again within this time, with the same id, gets the number of the first. */
const DUPLICATE_MS = 2 * 60_000;

/** Rejects with a `StreamError` if the stream's settings are unsafe by now. */
export async function checkSettings(link: NatsLink, manager: JetStreamManager, name: string): Promise<void> {
  const info = await findStream(link, manager, name);
  if (info !== null) checked(link, info); // Readers report a missing stream.
}

/** Returns the stream, creating it if allowed. Rejects with a `StreamError` if its settings are unsafe. */
export async function prepareStream(
  link: NatsLink,
  manager: JetStreamManager,
  { address, create }: StreamOptions,
): Promise<StreamInfo> {
  const name = address.stream;
  const info = await findStream(link, manager, name);
  if (info !== null) return checked(link, info);
  if (create === null) throw new StreamError("gone", `There is no stream "${name}" on these servers.`);
  return checked(link, await createStream(link, manager, streamConfig(name, create)));
}

async function findStream(
  link: NatsLink,
  manager: JetStreamManager,
  name: string,
): Promise<StreamInfo | null> {
  return link.ask(`ask for the stream "${name}"`, async () => {
    try {
      return await manager.streams.info(name);
    } catch (error) {
      if (isApiError(error, API_ERRORS.streamNotFound)) return null;
      throw error;
    }
  });
}

type NewConfig = Partial<StreamConfig> & Pick<StreamConfig, "name">;

function streamConfig(name: string, create: NonNullable<StreamOptions["create"]>): NewConfig {
  return {
    name,
    subjects: [subjectOf(name)],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    num_replicas: REPLICAS,
    discard: DiscardPolicy.New,
    max_bytes: create.bytesMax,
    max_age: 0, // Seals may be late: old messages may still be needed.
    max_msgs: -1,
    max_msg_size: -1,
    first_seq: create.firstMessage,
    duplicate_window: nanos(DUPLICATE_MS),
    allow_direct: false, // Only the leader has the newest message.
    deny_delete: true,
    compression: StoreCompression.None,
  };
}

async function createStream(
  link: NatsLink,
  manager: JetStreamManager,
  config: NewConfig,
): Promise<StreamInfo> {
  const { name } = config;
  return link.ask(`create the stream "${name}"`, async () => {
    try {
      return await manager.streams.add(config);
    } catch (error) {
      if (isApiError(error, API_ERRORS.replicasNotSupported))
        return await manager.streams.add({ ...config, num_replicas: 1 }); // There is only one server.
      // Another node was faster, with another size.
      if (isApiError(error, API_ERRORS.streamNameInUse)) return await infoOfNew(manager, name);
      throw error;
    }
  });
}

/** Another node has just created the stream, and this server may not have heard of it yet. */
async function infoOfNew(manager: JetStreamManager, name: string): Promise<StreamInfo> {
  try {
    return await manager.streams.info(name);
  } catch (error) {
    if (!isApiError(error, API_ERRORS.streamNotFound)) throw error;
    throw new StreamError(
      "unreachable",
      `The stream "${name}" was created just now, and is not available yet.`,
      error,
    );
  }
}

export function subjectOf(stream: string): string {
  return `${stream}.log`;
}

/** Whether the server belongs to a cluster, which can have several replicas. */
export function isClustered(link: NatsLink): boolean {
  return (link.connection.info?.cluster ?? "") !== "";
}

function checked(link: NatsLink, info: StreamInfo): StreamInfo {
  const problems = problemsOf(info.config, isClustered(link));
  if (problems.length === 0) return info;
  throw new StreamError(
    "refused",
    `The stream "${info.config.name}" would not retain its messages: ${problems.join("; ")}.`,
  );
}

/** A phrase for each problem, with what to change. */
function problemsOf(config: StreamConfig, isOneOfMany: boolean): string[] {
  const problems: string[] = [];
  const say = (isWrong: boolean, words: string) => {
    if (isWrong) problems.push(words);
  };
  const { name, subjects = [] } = config;
  say(config.max_age > 0, "it removes messages by their age (max_age), set that to 0");
  say(config.discard !== DiscardPolicy.New, "it discards old messages when it is full, set discard to new");
  say(config.storage !== StorageType.File, "it is in memory, create it anew with file storage");
  say(
    config.retention !== RetentionPolicy.Limits,
    "it removes messages that were read, set its retention to limits",
  );
  say(
    config.num_replicas < REPLICAS && isOneOfMany,
    `it has ${config.num_replicas} of ${REPLICAS} replicas, set num_replicas to ${REPLICAS}`,
  );
  say(
    subjects.length !== 1 || subjects[0] !== subjectOf(name),
    `it accepts messages of ${subjects.join(", ") || "no subject"}, set its subjects to ${subjectOf(name)} alone`,
  );
  say(
    config.mirror !== undefined || config.sources !== undefined,
    "it copies messages of other streams, remove its mirror and its sources",
  );
  say(
    config.max_msgs > 0 || config.max_msgs_per_subject > 0,
    "it removes messages by their number, set max_msgs and max_msgs_per_subject to -1",
  );
  say(config.no_ack === true, "it acknowledges nothing, set no_ack to false");
  say(config.allow_rollup_hdrs, "a message may replace all others, set allow_rollup_hdrs to false");
  say(
    config.allow_msg_ttl === true,
    "a message may set its own expiry, create it anew without allow_msg_ttl",
  );
  say(config.sealed, "it accepts no more messages, create it anew");
  say(config.persist_mode === "async", "it acknowledges before it writes, set persist_mode to default");
  say(
    config.duplicate_window < nanos(DUPLICATE_MS),
    "it forgets message ids within two minutes, set duplicate_window to 2m",
  );
  return problems;
}
