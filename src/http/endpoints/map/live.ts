import type { Result } from "../../../lib/result.ts";
import type { ServiceError } from "../../../model/errors.ts";
import { EXAMPLE_STREAM } from "../../answer/live-events.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { bbox, names, profiles } from "../../parameters/common.ts";
import { optionalNumber, severalTexts } from "../../parameters/kinds.ts";
import { optionalUserId } from "../../parameters/path-parameter.ts";

/** A URL has room for a few more. For many devices, request all. */
const DEVICES_MAX = 100;

const LAST_EVENT_ID = "Last-Event-ID";

const since = optionalNumber("integer", {
  description: [
    "Starts with everything after this: the id of an event, or the sequence of a snapshot.",
    `${LAST_EVENT_ID} takes precedence. If both are absent, the stream starts now.`,
  ].join(" "),
  minimum: 0,
});

export const live = queryEndpoint({
  operationId: "streamChanges",
  tag: "App",
  summary: "Positions as they change",
  description: [
    "Server-Sent Events, without an end. Each event carries the current record of every device whose latest record changed,",
    "as `/api/v1/locations/current` shows it. A device whose profile changed is sent again. One that changed several times since the last event is in it once; there",
    "are about four events a second at most. Queries already include the changes of an event. Its `id` is the number of the",
    `log entry up to which everything has been sent: as \`${LAST_EVENT_ID}\`, or as \`since\`, it makes the stream continue`,
    "there. If the changes in between are no longer known, because the client was away or too slow for long, or the server",
    "has restarted, an event of the type `reset` says so: load `/api/v1/locations/current/columns`, and continue reading. The",
    "first event comes immediately; if nothing changes, a comment comes every 15 seconds.",
    "\n\nWith `bbox` the stream includes a device while its latest position is in the box, and once when it has left; likewise",
    "with `user_id`. The stream ends within 5 seconds after its key is revoked or expires. An app may have half of all streams, and a key 64, or 512",
    "with the permission `view`.",
  ].join(" "),
  path: "/api/v1/live",
  isForViews: true,
  inPath: {},
  query: {
    since,
    bbox: bbox("Only devices whose latest position is in this box."),
    device_id: severalTexts(
      "Only this device, which need not have reported yet; may be repeated. Defaults to all devices.",
      DEVICES_MAX,
    ),
    user_id: optionalUserId,
    names,
    profiles,
  },
  headers: [
    {
      name: LAST_EVENT_ID,
      in: "header",
      required: false,
      description: "The id of the last event that was read; takes precedence over `since`.",
      schema: since.schema,
    },
  ],
  wrongQuery: "since=-1",
  answer: {
    contentType: "text/event-stream",
    description: "The events, as they happen.",
    schema: {
      type: "string",
      description:
        "`data` of an event is an object with `locations`, an array of CurrentRecord (ViewRecord for `view` keys), on one line. `profiles=true` adds `profile` to them.",
      example: EXAMPLE_STREAM,
    },
  },
  open({ viewers }) {
    return (call, { since, bbox, device_id, user_id, names: withNames, profiles: withProfiles }) => {
      const last = readLastEventId(call.request);
      if (!last.ok) return call.fail(last.error);
      const opened = viewers.open(call, {
        sinceSequence: last.value ?? since,
        box: bbox,
        deviceIds: device_id.length === 0 ? null : new Set(device_id),
        userId: user_id,
        view: call.view,
        names: { withNames, withProfiles },
      });
      if (!opened.ok) return call.fail(opened.error);
      if (call.request.method === "HEAD") opened.value.close(); // A HEAD needs no body.
      return call.events(opened.value);
    };
  },
});

/** A browser that reconnects sends this header in addition to its original query. */
function readLastEventId(request: Request): Result<number | null, ServiceError> {
  return since.parse(LAST_EVENT_ID, request.headers.get(LAST_EVENT_ID));
}
