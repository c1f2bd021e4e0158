import type { ClientMessage } from "../client.ts";
import { readName } from "../identity.ts";
import type { Claim } from "../point.ts";
import { isPresent, type JsonObject, readText } from "../reading/values.ts";

/** Parts of `owntracks/<user>/<device>`, which some write with a slash before it. */
export function topicParts(topic: string): string[] {
  return topic.replace(/^\//, "").split("/");
}

/** What brought the message knows best, then its topic, then the two letters that its user put on the map. */
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

/** Whether something is there that should be a name and is none. */
function isNoName(value: unknown): boolean {
  return isPresent(value) && readText(value) === null;
}

/** A topic of two parts is Overland's, which knows no users. */
function readTopic(message: ClientMessage, members: JsonObject) {
  const topic = message.topic ?? members.topic;
  const [, first, second] = typeof topic === "string" ? topicParts(topic) : [];
  return second === undefined ? { device: first, user: undefined } : { device: second, user: first };
}
