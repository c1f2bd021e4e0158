import type { ServiceError } from "../../../model/errors.ts";
import type { AppId } from "../../../model/ids.ts";
import type { WatchKind } from "../../../model/watches/watch-rules.ts";
import { queryEndpoint } from "../../endpoint.ts";
import type { Services } from "../../services.ts";
import { alertId, geofenceId, MISSING_ALERT, MISSING_FENCE } from "../geofences/shapes.ts";
import { createAnswerEvents } from "./answer-events.ts";
import { EVENTS_ANSWER, EVENTS_PAGING, eventsDevice, eventsQuery } from "./shapes.ts";

const query = { ...eventsDevice, ...eventsQuery };

export const geofenceEvents = queryEndpoint({
  ...EVENTS_ANSWER,
  operationId: "getGeofenceEvents",
  summary: "Events of a geofence",
  description: `${EVENTS_PAGING} Also of a geofence that was deleted, while it may have events.`,
  path: "/api/v1/geofences/:geofenceId/events",
  inPath: { geofenceId },
  query,
  failures: { 404: MISSING_FENCE },
  open(services) {
    const answerEvents = createAnswerEvents(services);
    return (call, { geofenceId: watchId, ...values }) => {
      const missing = missingWatch(services, call.appId, "fence", watchId);
      return answerEvents(call, values, { watchId, missing });
    };
  },
});

export const alertEvents = queryEndpoint({
  ...EVENTS_ANSWER,
  operationId: "getAlertEvents",
  summary: "Events of an alert",
  description: `${EVENTS_PAGING} Also of an alert that was deleted, while it may have events.`,
  path: "/api/v1/alerts/:alertId/events",
  inPath: { alertId },
  query,
  failures: { 404: MISSING_ALERT },
  open(services) {
    const answerEvents = createAnswerEvents(services);
    return (call, { alertId: watchId, ...values }) => {
      const missing = missingWatch(services, call.appId, "alert", watchId);
      return answerEvents(call, values, { watchId, missing });
    };
  },
});

/** Null if the app has the fence or alert, or had it until a time that its records may still be from. */
function missingWatch({ hot }: Services, appId: AppId, kind: WatchKind, id: string): ServiceError | null {
  if (hot.watches.find(appId)?.byId.get(id)?.kind === kind) return null;
  return { kind: kind === "fence" ? "fence_not_found" : "alert_not_found" };
}
