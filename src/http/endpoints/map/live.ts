import type { Result } from "../../../lib/result.ts";
import type { ServiceError } from "../../../model/errors.ts";
import { EXAMPLE_STREAM } from "../../answer/live-events.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { bbox } from "../../parameters/common.ts";
import { optionalNumber, severalTexts } from "../../parameters/kinds.ts";
import { optionalUserId } from "../../parameters/path-parameter.ts";

/* What changes, as it changes. */

/** A URL has room for some more; who wants them takes all. */
const DEVICES_MAX = 100;

const LAST_EVENT_ID = "Last-Event-ID";

const since = optionalNumber("integer", {
  description: [
    "What came after this is told first: the id of an event, or the sequence of a snapshot.",
    `${LAST_EVENT_ID} goes before it. From now on where both are left out.`,
  ].join(" "),
  minimum: 0,
});

export const live = queryEndpoint({
  operationId: "streamChanges",
  tag: "App",
  summary: "Positions as they change",
  description: [
    "Server-Sent Events, without an end. Of each device that has a new latest position, or whose latest record is another",
    "than before, an event has the record as it is now, as `/api/v1/locations/current` shows it; a device that changed",
    "several times since the event before is in it once, and there are some four events a second at most. What an event",
    "tells of can be asked for already. Its `id` is the number of the log's entry up to which everything was told: sent",
    `as \`${LAST_EVENT_ID}\`, or as \`since\`, it has the stream go on there. Where what came in between is not known any`,
    "more, as after a long while, in which a client took too little, or after a restart of the server, an event of the",
    "type `reset` says so: take `/api/v1/locations/current/columns`, and read on. The first event comes at once; where",
    "nothing changes a comment comes every 15 seconds.",
    "\n\nWith `bbox` a device is told of while its latest position lies in the box, and once when it has left; with",
    "`user_id` likewise. The stream ends within 5 seconds of its key. An app may have half of all streams, and a key 64, or",
    "512 with the permission `view`.",
  ].join(" "),
  path: "/api/v1/live",
  isForViews: true,
  inPath: {},
  query: {
    since,
    bbox: bbox("Only devices whose latest position lies in it."),
    device_id: severalTexts(
      "Only this device, which may be one that is yet to report; may be repeated. All where left out.",
      DEVICES_MAX,
    ),
    user_id: optionalUserId,
  },
  headers: [
    {
      name: LAST_EVENT_ID,
      in: "header",
      required: false,
      description: "The id of the last event that was read; goes before `since`.",
      schema: since.schema,
    },
  ],
  wrongQuery: "since=-1",
  answer: {
    contentType: "text/event-stream",
    description: "The events, as they come.",
    schema: {
      type: "string",
      description:
        "`data` of an event is an object with `locations`, an array of CurrentRecord (ViewRecord for `view` keys), in one line.",
      example: EXAMPLE_STREAM,
    },
  },
  open({ viewers }) {
    return (call, { since, bbox, device_id, user_id }) => {
      const last = readLastEventId(call.request);
      if (!last.ok) return call.fail(last.error);
      const opened = viewers.open(call, {
        sinceSequence: last.value ?? since,
        box: bbox,
        deviceIds: device_id.length === 0 ? null : new Set(device_id),
        userId: user_id,
        view: call.view,
      });
      if (!opened.ok) return call.fail(opened.error);
      if (call.request.method === "HEAD") opened.value.close(); // Nobody reads it.
      return call.events(opened.value);
    };
  },
});

/** A browser that connects again sends it, beside the query that it began with. */
function readLastEventId(request: Request): Result<number | null, ServiceError> {
  return since.parse(LAST_EVENT_ID, request.headers.get(LAST_EVENT_ID));
}
