import { presentEvent } from "../../../geofences/present-event.ts";
import type { EventKind } from "../../../geofences/watch.ts";
import { ok, type Result } from "../../../lib/result.ts";
import { mapMaybe } from "../../../lib/schedule/maybe-promise.ts";
import type { ServiceError } from "../../../model/errors.ts";
import type { DeviceId, UserId } from "../../../model/ids.ts";
import { localTimeFormatterOf } from "../../../model/time/local-time.ts";
import type { Order, TimeRange } from "../../../model/time/range.ts";
import type { Zone } from "../../../model/time/zone.ts";
import { retainedRange } from "../../../service/queries/find-device.ts";
import { findEvents, findNewEvents } from "../../../service/watching/find-events.ts";
import type { Answer } from "../../answer/responder.ts";
import type { Call } from "../../call.ts";
import { invalid } from "../../parameters/parameter.ts";
import type { Services } from "../../services.ts";
import type { ValueOf } from "../../shapes/shape.ts";
import type { eventsPage } from "./shapes.ts";

/** The values of the parameters that the endpoints of events share. */
export interface EventsValues {
  readonly start: number | null;
  readonly end: number | null;
  readonly kinds: readonly EventKind[];
  readonly user_id: string | null;
  readonly after: number | null;
  readonly order: Order;
  readonly limit: number;
  readonly offset: number;
  readonly timezone: Zone | null;
  readonly device_id?: string | null;
}

/** What the events of a request are about. */
export interface EventsSubject {
  readonly deviceId?: string;
  readonly watchId?: string;
  /** The error if the app has no such device, fence or alert. */
  readonly missing?: ServiceError | null;
}

export function createAnswerEvents(services: Services) {
  return function answerEvents(call: Call, values: EventsValues, subject: EventsSubject = {}): Answer {
    const { kinds, user_id, after, order, limit, offset, timezone } = values;
    const range = readRange(values);
    if (!range.ok) return call.fail(range.error);
    if (subject.missing) return call.fail(subject.missing);
    const store = services.events();
    const { appId } = call;
    const filter = {
      range: retainedRange(services, range.value),
      deviceId: (subject.deviceId ?? values.device_id ?? null) as DeviceId | null,
      userId: user_id as UserId | null,
      watchId: subject.watchId ?? null,
      kinds: new Set(kinds),
    };
    const steps =
      after === null
        ? findEvents(store, appId, { ...filter, order, offset, limit })
        : findNewEvents(store, appId, filter, after, limit);
    return mapMaybe(services.scheduler.runAtOnce(appId, call.request.signal, steps), (page) => {
      const { events, hasMore, seq } = page;
      const localTime = localTimeFormatterOf(timezone);
      const body: ValueOf<typeof eventsPage> = {
        success: true,
        events: events.map((each) => ({
          ...presentEvent(each),
          ...(localTime === null ? {} : { local_time: localTime.text(each.event.timestampMs) }),
        })),
        pagination: { count: events.length, has_more: hasMore, offset, limit, after: seq },
      };
      return call.object(body, 200);
    });
  };
}

function readRange({ start, end, after, order, offset }: EventsValues): Result<TimeRange, ServiceError> {
  const range = { startMs: start ?? 0, endMs: end ?? Number.POSITIVE_INFINITY };
  if (range.startMs >= range.endMs) return invalid("start must be before end");
  if (after !== null && (order === "desc" || offset > 0))
    return invalid("after can't be combined with order=desc or offset");
  return ok(range);
}
