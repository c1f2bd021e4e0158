import type { ClientMessage } from "../client.ts";
import { readName } from "../identity.ts";
import type { Claim } from "../point.ts";
import { isPresent, type JsonObject, readText } from "../reading/values.ts";

/** Splits `owntracks/<user>/<device>`, which some senders write with a leading slash. */
export function topicParts(topic: string): string[] {
  return topic.replace(/^\//, "").split("/");
}

/** Headers and parameters come first, then the topic, then the two letters that the user chose for the map. */
export function readClaim(message: ClientMessage, members: JsonObject): Claim {
  const { headers, query, basicUser } = message;
  const topic = readTopic(message, members);
  const device =
    readName(headers["x-limit-d"]) ??
    readName(query.get("d")) ??
    readName(topic.device) ??
    readName(members.tid);
  return {
    device,
    ...(device === null &&
      (isNoName(members.topic) || isNoName(members.tid)) && { isDeviceUnreadable: true }),
    user:
      readName(headers["x-limit-u"]) ??
      readName(query.get("u")) ??
      readName(topic.user) ??
      readName(basicUser),
  };
}

function isNoName(value: unknown): boolean {
  return isPresent(value) && readText(value) === null;
}

/** A topic of two parts is Overland's and has no user. */
function readTopic(message: ClientMessage, members: JsonObject) {
  const topic = message.topic ?? members.topic;
  const [, first, second] = typeof topic === "string" ? topicParts(topic) : [];
  return second === undefined ? { device: first, user: undefined } : { device: second, user: first };
}
