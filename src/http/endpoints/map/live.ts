import { EVENT_KINDS } from "../../../geofences/watch.ts";
import { ok, type Result } from "../../../lib/result.ts";
import type { ServiceError } from "../../../model/errors.ts";
import type { DeviceId } from "../../../model/ids.ts";
import type { EventViewerQuery } from "../../../service/live/event-feed.ts";
import { EXAMPLE_STREAM } from "../../answer/live-events.ts";
import type { LiveQuery } from "../../answer/viewers.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { bbox, names, profiles } from "../../parameters/common.ts";
import { flag, optionalNumber, severalTexts, severalWords } from "../../parameters/kinds.ts";
import type { QueryValues } from "../../parameters/parameter.ts";
import { optionalUserId } from "../../parameters/path-parameter.ts";

/** A URL has room for a few more. For many devices, request all. */
const DEVICES_MAX = 100;

const LAST_EVENT_ID = "Last-Event-ID";

const TYPES = ["location", "event"] as const;

/** Geofences and alerts that a URL names. */
const WATCHES_MAX = 100;

const since = optionalNumber("integer", {
  description: [
    "Starts with everything after this: the id of an event, the sequence of a snapshot, or, with types=event, the after of",
    `a list of events. ${LAST_EVENT_ID} takes precedence. If both are absent, the stream starts now.`,
  ].join(" "),
  minimum: 0,
});

const query = {
  types: severalWords(
    "What the stream tells: positions, or events of geofences and alerts, of which keys with `view` have none, or both.",
    TYPES,
    ["location"],
  ),
  since,
  bbox: bbox("Only devices whose latest position is in this box."),
  device_id: severalTexts(
    "Only this device, which need not have reported yet; may be repeated. Defaults to all devices.",
    DEVICES_MAX,
  ),
  user_id: optionalUserId,
  names,
  profiles,
  kinds: severalWords("With types=event, only events of these kinds.", EVENT_KINDS, EVENT_KINDS),
  watch_id: severalTexts(
    "With types=event, only events of this geofence or alert; may be repeated. Defaults to all.",
    WATCHES_MAX,
  ),
  late: flag("With types=event, also events that were made more than 24 hours after their time.", "boolean"),
};

type LiveValues = QueryValues<typeof query>;

/** Up to where a client knows everything; null for what begins now. */
interface Places {
  readonly sequence: number | null;
  readonly seq: number | null;
}

/** Ids of a stream of both: the number of a log entry, and a place among the events. */
const PLACES = /^(\d{1,16})-(\d{1,16})$/;

export const live = queryEndpoint({
  operationId: "streamChanges",
  tag: "App",
  summary: "Positions or events, as they come",
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
    "\n\nWith `types=event` the stream carries events of geofences and alerts, as `/api/v1/events` has them with `after`: in the",
    "order in which they were stored, each change again, and those that were taken back with `withdrawn`. All stored events",
    "are known, so a stream continues after any break. `reset` then means that this server has no such place.",
    "\n\nWith `types=location,event` one stream carries both, each in events of its own. Ids then have both places, as",
    `81221-1795198842517, and continue the stream as \`${LAST_EVENT_ID}\`; \`since\` is about positions, and events start now.`,
    "The `member` of a `reset` tells whether `locations` or `events` are meant.",
  ].join(" "),
  path: "/api/v1/live",
  isForViews: true,
  inPath: {},
  query,
  headers: [
    {
      name: LAST_EVENT_ID,
      in: "header",
      required: false,
      description: "The id of the last event that was read; takes precedence over `since`.",
      schema: { type: "string", pattern: "^\\d{1,16}(-\\d{1,16})?$" },
    },
  ],
  wrongQuery: "since=-1",
  answer: {
    contentType: "text/event-stream",
    description: "The events, as they happen.",
    schema: {
      type: "string",
      description:
        "`data` of an event is an object with `locations`, an array of CurrentRecord (ViewRecord for `view` keys), on one line. `profiles=true` adds `profile` to them. With `types=event` it is an object with `events`, an array of Event. The first one has all members that the stream's events have, empty.",
      example: EXAMPLE_STREAM,
    },
  },
  open({ viewers }) {
    return (call, values) => {
      const places = readPlaces(call.request, values);
      if (!places.ok) return call.fail(places.error);
      const misplaced = findMisplaced(values);
      if (misplaced !== null) return call.fail({ kind: "invalid_parameter", message: misplaced });
      // Areas would tell where a device is more exactly than a share link may.
      if (values.types.includes("event") && call.view !== null)
        return call.fail({ kind: "permission_missing", permission: "read" });
      const { sequence, seq } = places.value;
      const locations = { ...locationQueryOf(values, sequence), view: call.view };
      const events = eventQueryOf(values, seq);
      const opened =
        values.types.length === 2
          ? viewers.openBoth(call, locations, events)
          : values.types[0] === "event"
            ? viewers.openEvents(call, events)
            : viewers.open(call, locations);
      if (!opened.ok) return call.fail(opened.error);
      if (call.request.method === "HEAD") opened.value.close(); // A HEAD needs no body.
      return call.events(opened.value);
    };
  },
});

function locationQueryOf(values: LiveValues, sinceSequence: number | null): Omit<LiveQuery, "view"> {
  const { bbox: box, device_id, user_id: userId, names: withNames, profiles: withProfiles } = values;
  const deviceIds = device_id.length === 0 ? null : new Set(device_id);
  return { sinceSequence, box, deviceIds, userId, names: { withNames, withProfiles } };
}

function eventQueryOf(values: LiveValues, sinceSeq: number | null): EventViewerQuery {
  const { kinds: types, watch_id, device_id, user_id, late: sendsLate } = values;
  return {
    ...{ sinceSeq, types, sendsLate },
    watches: watch_id.length === 0 ? null : watch_id,
    devices: device_id.length === 0 ? null : (device_id as readonly DeviceId[]),
    users: user_id === null ? null : [user_id],
  };
}

/** Says which parameter is only about what the stream has not; null if none is. */
function findMisplaced(values: LiveValues): string | null {
  const { types, bbox: box, names, profiles, kinds, watch_id, late } = values;
  const own: Readonly<Record<(typeof TYPES)[number], Readonly<Record<string, boolean>>>> = {
    location: { bbox: box !== null, names, profiles },
    event: { kinds: kinds.length < EVENT_KINDS.length, watch_id: watch_id.length > 0, late },
  };
  for (const type of TYPES) {
    const name = Object.entries(own[type]).find(([, isThere]) => isThere)?.[0];
    if (name !== undefined && !types.includes(type)) return `${name} needs ${type} among the types`;
  }
  return null;
}

/** A browser that reconnects sends the header in addition to its original query. */
function readPlaces(request: Request, { types, since: asked }: LiveValues): Result<Places, ServiceError> {
  const id = request.headers.get(LAST_EVENT_ID);
  const both = types.length === 2 ? PLACES.exec(id ?? "") : null;
  if (both !== null) {
    const [sequence, seq] = [since.parse(LAST_EVENT_ID, both[1]!), since.parse(LAST_EVENT_ID, both[2]!)];
    if (!sequence.ok) return sequence;
    return seq.ok ? ok({ sequence: sequence.value, seq: seq.value }) : seq;
  }
  const last = since.parse(LAST_EVENT_ID, id);
  if (!last.ok) return last;
  const place = last.value ?? asked;
  return ok(types.includes("location") ? { sequence: place, seq: null } : { sequence: null, seq: place });
}
