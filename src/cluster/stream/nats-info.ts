import type { JetStreamManager, StreamInfo } from "@nats-io/jetstream";
import type { NatsLink } from "./nats-link.ts";
import { StreamError } from "./stream.ts";

/**
 * A stream as its leader knows it; rejects with a `StreamError`. Where there is no leader any server answers with what
 * it has itself, which may lack what was acknowledged: that is no answer.
 */
export async function askStreamInfo(
  link: NatsLink,
  manager: JetStreamManager,
  name: string,
  options?: Parameters<JetStreamManager["streams"]["info"]>[1],
): Promise<StreamInfo> {
  const doing = `ask for the stream "${name}"`;
  const info = await link.ask(doing, () => manager.streams.info(name, options));
  const { replicas = [], leader = "" } = info.cluster ?? {};
  if (replicas.length > 0 && leader === "")
    throw new StreamError("unreachable", `Cannot ${doing}: it has no leader, so no majority of its servers`);
  return info;
}
