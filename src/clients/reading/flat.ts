import { isObject } from "../../lib/is-object.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { ClientMessage } from "../client.ts";
import { listOf } from "../content.ts";
import type { PointSink } from "../point.ts";
import { type Found, handOver, UNKNOWN_SHAPE } from "./found.ts";
import { readList } from "./list.ts";

export type Members = Readonly<Record<string, unknown>>;

/** What the sink takes for the whole message. */
const WHOLE_MESSAGE = undefined;

/**
 * Reads a message of clients whose point is a handful of names and values, whichever way they come: as a form, as the
 * parameters of the URL, as a JSON object, or as a list of those.
 */
export function* readFlat(
  { content, query }: ClientMessage,
  sink: PointSink,
  find: (members: Members) => Found,
): Steps<void> {
  switch (content.kind) {
    case "unreadable":
      return sink.refuse("bad_json");
    case "empty":
    case "text": {
      const form = new URLSearchParams(content.kind === "text" ? content.text : "");
      if (form.size + query.size > 0) handOver(find(membersOf(form, query)), WHOLE_MESSAGE, sink);
      return;
    }
    case "json": {
      const findIn = (value: unknown) => (isObject(value) ? find(value) : UNKNOWN_SHAPE);
      const list = listOf(content.value);
      if (list === null) handOver(findIn(content.value), WHOLE_MESSAGE, sink);
      else yield* readList(list, (element) => handOver(findIn(element), element, sink));
    }
  }
}

/** Parameters as members, so that they are read like those of a JSON object; the first of a name counts. */
function membersOf(...sources: readonly URLSearchParams[]): Members {
  const members: Record<string, unknown> = Object.create(null);
  for (const parameters of sources) for (const [name, value] of parameters) members[name] ??= value;
  return members;
}
