import { EXAMPLE_ENTRY_ID } from "../../../src/http/endpoints/quarantine/entry-shapes.ts";
import { assert } from "../../../src/lib/assert.ts";
import type { JsonObject, KeyName, TestApp } from "../../support/test-app.ts";
import { BUS } from "./requests.ts";

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

/** A path of the document's example with the app's newest entry in it, where there is one. */
export async function withEntry(app: TestApp, path: string, key: KeyName = "full"): Promise<string> {
  if (!path.includes(EXAMPLE_ENTRY_ID)) return path;
  const { entries } = (await app.get("/api/v1/quarantine", key)).body as { entries?: readonly JsonObject[] };
  return path.replace(EXAMPLE_ENTRY_ID, String(entries?.[0]?.id ?? EXAMPLE_ENTRY_ID));
}
