import { EXAMPLE_CORRECTION_ID } from "../../../src/http/endpoints/corrections/shapes.ts";
import { EXAMPLE_ERASURE_ID } from "../../../src/http/endpoints/erasures/shapes.ts";
import { EXAMPLE_ALERT_ID, EXAMPLE_FENCE_ID } from "../../../src/http/endpoints/geofences/shapes.ts";
import { EXAMPLE_ENTRY_ID } from "../../../src/http/endpoints/quarantine/entry-shapes.ts";
import { EXAMPLE_WEBHOOK_ID } from "../../../src/http/endpoints/webhooks/shapes.ts";
import { assert } from "../../../src/lib/assert.ts";
import type { AppId, DeviceId } from "../../../src/model/ids.ts";
import { putAll, putInside, revisionAt } from "../../support/geofences/test-events.ts";
import { APP_ID, type JsonObject, type KeyName, OTHER_APP_ID, type TestApp } from "../../support/test-app.ts";
import { BUS, INACCURATE_METERS } from "./requests.ts";

/** Sends a point of the bus without a position, as Overland does: it goes into the quarantine. */
export async function quarantine(app: TestApp, key: KeyName = "full"): Promise<void> {
  const body = JSON.stringify({ locations: [{ type: "Feature", properties: { device_id: BUS.device_id } }] });
  const headers = { authorization: `Bearer ${app.keys[key]}` };
  const path = `/ingest/overland?device_id=${BUS.device_id}`;
  const { status } = await app.fetch(path, { method: "POST", headers, body });
  assert(status === 200, "what can't be used is kept");
}

/** Gives the bus a profile that has its id, as every endpoint about profiles then finds. */
export async function giveProfile(app: TestApp, key: KeyName = "full"): Promise<void> {
  const headers = { authorization: `Bearer ${app.keys[key]}`, "content-type": "application/json" };
  const body = JSON.stringify({ name: `the ${BUS.device_id}`, tags: [BUS.device_id] });
  const path = `/api/v1/devices/${BUS.device_id}/profile`;
  const { status } = await app.fetch(path, { method: "PUT", headers, body });
  assert(status === 200, "the profile is stored");
}

/**
 * Hides a report of the bus, and has another one to be hidden, both so inaccurate that the examples' body finds them;
 * what was hidden before shows again.
 */
export async function correct(app: TestApp, key: KeyName = "full"): Promise<void> {
  const headers = { authorization: `Bearer ${app.keys[key]}`, "content-type": "application/json" };
  const path = "/api/v1/corrections";
  const { body } = await app.get(`${path}?state=active`, key);
  for (const { id } of (body as { corrections?: readonly JsonObject[] }).corrections ?? [])
    await app.fetch(`${path}/${id}`, { method: "DELETE", headers });
  const timestamp = app.clock.nowMs() - 9000;
  const report = { ...BUS, horizontal_accuracy: INACCURATE_METERS };
  await app.store(
    [report, report].map((each, index) => ({ ...each, timestamp: timestamp + index })),
    key,
  );
  const hide = JSON.stringify({ action: "hide", device_id: BUS.device_id, timestamps: [timestamp] });
  const { status } = await app.fetch(path, { method: "POST", headers, body: hide });
  assert(status === 200, "the report is hidden");
}

/** Makes a geofence and an alert about the bus, each with an event, if there is none. */
export async function watch(app: TestApp, key: KeyName = "full"): Promise<void> {
  const headers = { authorization: `Bearer ${app.keys[key]}`, "content-type": "application/json" };
  const common = { name: `the ${BUS.device_id}`, devices: [BUS.device_id] };
  const coordinates = [BUS.longitude, BUS.latitude];
  const properties = { ...common, radius_meters: 100 };
  const fence = { type: "Feature", geometry: { type: "Point", coordinates }, properties };
  for (const [path, watched] of [
    ["/api/v1/geofences", fence],
    ["/api/v1/alerts", { ...common, silent_for: 60 }],
  ] as const) {
    const { body } = await app.get(path, key);
    if ((body.pagination as unknown as JsonObject | undefined)?.total_count !== 0) continue;
    const made = await app.fetch(path, { method: "POST", headers, body: JSON.stringify(watched) });
    assert(made.status === 200, "it is made");
    const { geofence, alert } = (await made.json()) as Readonly<Record<string, { readonly id: string }>>;
    const kind = geofence === undefined ? "alert_start" : "enter";
    const event = { deviceId: BUS.device_id as DeviceId, watchId: (geofence ?? alert)!.id, kind } as const;
    const appId = (key === "other" ? OTHER_APP_ID : APP_ID) as AppId;
    putAll(app.events, [revisionAt(app.clock.nowMs() - 1, kind === "enter" ? "1" : "2", event, { appId })]);
    putInside(app.events, appId, event);
  }
}

/** Makes a webhook for events of the bus, if there is none. */
export async function subscribe(app: TestApp, key: KeyName = "full"): Promise<void> {
  const path = "/api/v1/webhooks";
  const { body } = await app.get(path, key);
  if ((body.pagination as unknown as JsonObject | undefined)?.total_count !== 0) return;
  const headers = { authorization: `Bearer ${app.keys[key]}`, "content-type": "application/json" };
  const webhook = { url: "https://hooks.example.com/", devices: [BUS.device_id] };
  const made = await app.fetch(path, { method: "POST", headers, body: JSON.stringify(webhook) });
  assert(made.status === 200, "it is made");
}

/** Erases a device that never reported. */
export async function erase(app: TestApp): Promise<void> {
  const headers = { authorization: `Bearer ${app.keys.eraser}`, "content-type": "application/json" };
  const body = JSON.stringify({ device_id: "that never reported" });
  const { status } = await app.fetch("/api/v1/erasures", { method: "POST", headers, body });
  assert(status === 200, "what is not there can be erased");
}

/**
 * A path of the document's example with the app's newest entry, correction or erasure, or its first geofence, alert or
 * webhook, in it, where there is one.
 */
export async function withEntry(app: TestApp, path: string, key: KeyName = "full"): Promise<string> {
  if (path.includes(EXAMPLE_CORRECTION_ID)) {
    const { body } = await app.get("/api/v1/corrections", key);
    const [newest] = (body as { corrections?: readonly JsonObject[] }).corrections ?? [];
    return path.replace(EXAMPLE_CORRECTION_ID, String(newest?.id ?? EXAMPLE_CORRECTION_ID));
  }
  for (const [id, list] of [
    [EXAMPLE_FENCE_ID, "geofences"],
    [EXAMPLE_ALERT_ID, "alerts"],
    [EXAMPLE_WEBHOOK_ID, "webhooks"],
  ] as const) {
    if (!path.includes(id)) continue;
    const { body } = await app.get(`/api/v1/${list}`, key);
    const [first] = (body[list] ?? []) as readonly JsonObject[];
    return path.replace(id, String(first?.id ?? id));
  }
  if (path.includes(EXAMPLE_ERASURE_ID)) {
    const { body } = await app.get("/api/v1/erasures", "eraser");
    const [newest] = (body as { erasures?: readonly JsonObject[] }).erasures ?? [];
    return path.replace(EXAMPLE_ERASURE_ID, String(newest?.id ?? EXAMPLE_ERASURE_ID));
  }
  if (!path.includes(EXAMPLE_ENTRY_ID)) return path;
  const { entries } = (await app.get("/api/v1/quarantine", key)).body as { entries?: readonly JsonObject[] };
  return path.replace(EXAMPLE_ENTRY_ID, String(entries?.[0]?.id ?? EXAMPLE_ENTRY_ID));
}
