import type { Steps } from "../../lib/schedule/steps.ts";
import type { ClientMessage } from "../client.ts";
import { listOf } from "../content.ts";
import type { PointSink } from "../point.ts";
import { type Found, handOver, UNKNOWN_SHAPE } from "./found.ts";
import { readList } from "./list.ts";
import { isMembers, type Members, membersOfParameters } from "./members.ts";

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
      if (form.size + query.size > 0) handOver(find(membersOfParameters(form, query)), WHOLE_MESSAGE, sink);
      return;
    }
    case "json": {
      const findIn = (value: unknown) => (isMembers(value) ? find(value) : UNKNOWN_SHAPE);
      const list = listOf(content.value);
      if (list === null) handOver(findIn(content.value), WHOLE_MESSAGE, sink);
      else yield* readList(list, sink, (element) => handOver(findIn(element), [element], sink));
    }
  }
}
