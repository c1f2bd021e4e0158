import { parseAlert } from "../../../geofences/parse/drafts.ts";
import { presentAlert } from "../../../geofences/present.ts";
import { mapMaybe } from "../../../lib/schedule/maybe-promise.ts";
import { findWatch, findWatches } from "../../../service/geofences/find-watches.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { limit, offset } from "../../parameters/common.ts";
import { optionalText } from "../../parameters/kinds.ts";
import {
  always,
  count,
  EXAMPLE_ASKED,
  EXAMPLE_COUNTS,
  list,
  object,
  pageAsked,
  pageCounts,
  ref,
  text,
  type ValueOf,
} from "../../shapes/shape.ts";
import { ALERT_SCHEMA, alert, EXAMPLE_ALERT, EXAMPLE_NEW_ALERT, NEW_ALERT_SCHEMA } from "./alert-shapes.ts";
import { editOf, readWatch } from "./read-watch.ts";
import { alertId, MISSING_ALERT, WATCH_BODY_FAILURES } from "./shapes.ts";

const ALL = "/api/v1/alerts";
const ONE = "/api/v1/alerts/:alertId";

const page = object({
  success: always(true),
  alerts: list(alert),
  pagination: object({ ...pageCounts, total_count: count("Alerts before paging."), ...pageAsked }),
});

export const listAlerts = queryEndpoint({
  operationId: "getAlerts",
  tag: "Geofences",
  summary: "The alerts of the app",
  description: "In the order in which they were made.",
  path: ALL,
  inPath: {},
  query: {
    tag: optionalText("Only alerts with this tag."),
    text: optionalText("Only alerts whose name or tag contains this text, in upper or lower case."),
    limit,
    offset,
  },
  wrongQuery: "limit=0",
  answer: {
    name: "Alerts",
    description: "One page of the alerts.",
    shape: page,
    example: {
      success: true,
      alerts: [EXAMPLE_ALERT],
      pagination: { ...EXAMPLE_COUNTS, total_count: 1, ...EXAMPLE_ASKED },
    },
  },
  schemas: { Alert: ALERT_SCHEMA },
  open({ hot, scheduler }) {
    return (call, { tag, text, limit, offset }) => {
      const query = { kind: "alert", box: null, tag, text, limit, offset } as const;
      const steps = findWatches(hot.watches.find(call.appId), query);
      return mapMaybe(scheduler.runAtOnce(call.appId, call.request.signal, steps), ({ watches, total }) => {
        const has_more = offset + watches.length < total;
        const body: ValueOf<typeof page> = {
          success: true,
          alerts: watches.map(presentAlert),
          pagination: { count: watches.length, has_more, total_count: total, offset, limit },
        };
        return call.object(body, 200);
      });
    };
  },
});

const stored = object({
  success: always(true),
  alert,
  sequence: count("Position in the log after this request."),
});

export const alertBody = {
  description: "The alert.",
  example: EXAMPLE_NEW_ALERT,
  content: { "application/json": { schema: ref("schemas", "NewAlert"), example: EXAMPLE_NEW_ALERT } },
};

export const createAlert = queryEndpoint({
  operationId: "createAlert",
  tag: "Geofences",
  summary: "Makes an alert",
  description:
    "About the speed, the battery or the silence of devices, wherever they are. An app has at most 1,000 alerts.",
  method: "POST",
  permission: "manage",
  path: ALL,
  inPath: {},
  query: {},
  body: alertBody,
  answer: {
    name: "AlertStored",
    description: "The alert as it is stored.",
    shape: stored,
    example: { success: true, alert: EXAMPLE_ALERT, sequence: 4711 },
  },
  failures: WATCH_BODY_FAILURES,
  schemas: { NewAlert: NEW_ALERT_SCHEMA },
  open({ editWatches }) {
    return async (call) => {
      const draft = await readWatch(call.request, parseAlert);
      if (!draft.ok) return call.fail(draft.error);
      const edited = await editWatches.create(editOf(call), draft.value);
      if (!edited.ok) return call.fail(edited.error);
      const { watch, sequence } = edited.value;
      const answer: ValueOf<typeof stored> = { success: true, alert: presentAlert(watch), sequence };
      return call.object(answer, 200);
    };
  },
});

const one = object({ success: always(true), alert });

export const oneAlert = queryEndpoint({
  operationId: "getAlert",
  tag: "Geofences",
  summary: "One alert",
  description: "Its current version.",
  path: ONE,
  inPath: { alertId },
  query: {},
  answer: {
    name: "AlertAnswer",
    description: "The alert.",
    shape: one,
    example: { success: true, alert: EXAMPLE_ALERT },
  },
  failures: { 404: MISSING_ALERT },
  open({ hot }) {
    return (call, { alertId }) => {
      const watch = findWatch(hot.watches.find(call.appId), "alert", alertId);
      if (watch === null) return call.fail({ kind: "alert_not_found" });
      const answer: ValueOf<typeof one> = { success: true, alert: presentAlert(watch) };
      return call.object(answer, 200);
    };
  },
});

export const replaceAlert = queryEndpoint({
  operationId: "replaceAlert",
  tag: "Geofences",
  summary: "Replaces an alert",
  description:
    "Replaces all of it. Other rules make another version, which is in force for fixes from then on.",
  method: "PUT",
  permission: "manage",
  path: ONE,
  inPath: { alertId },
  query: {},
  body: alertBody,
  answer: {
    name: "AlertReplaced",
    description: "The alert as it is stored.",
    shape: stored,
    example: { success: true, alert: { ...EXAMPLE_ALERT, version: 2 }, sequence: 4712 },
  },
  failures: { ...WATCH_BODY_FAILURES, 404: MISSING_ALERT },
  open({ editWatches }) {
    return async (call, { alertId }) => {
      const draft = await readWatch(call.request, parseAlert);
      if (!draft.ok) return call.fail(draft.error);
      const edited = await editWatches.replace(editOf(call), alertId, draft.value);
      if (!edited.ok) return call.fail(edited.error);
      const { watch, sequence } = edited.value;
      const answer: ValueOf<typeof stored> = { success: true, alert: presentAlert(watch), sequence };
      return call.object(answer, 200);
    };
  },
});

const deleted = object({
  success: always(true),
  id: text("The alert that is no more."),
  sequence: count("Position in the log after this request."),
});

export const deleteAlert = queryEndpoint({
  operationId: "deleteAlert",
  tag: "Geofences",
  summary: "Deletes an alert",
  description: "It is in force for fixes from before its deletion only.",
  method: "DELETE",
  permission: "manage",
  path: ONE,
  inPath: { alertId },
  query: {},
  answer: {
    name: "AlertDeleted",
    description: "It was deleted.",
    shape: deleted,
    example: { success: true, id: EXAMPLE_ALERT.id, sequence: 4713 },
  },
  failures: { 404: MISSING_ALERT },
  open({ editWatches }) {
    return async (call, { alertId }) => {
      const edited = await editWatches.delete(editOf(call), "alert", alertId);
      if (!edited.ok) return call.fail(edited.error);
      const answer: ValueOf<typeof deleted> = { success: true, id: alertId, sequence: edited.value.sequence };
      return call.object(answer, 200);
    };
  },
});
