import { CLIENT_ENDPOINTS } from "./clients/client-endpoints.ts";
import type { Endpoint } from "./endpoint.ts";
import { appCurrent } from "./endpoints/app/current.ts";
import { appDoctor } from "./endpoints/app/doctor.ts";
import { appHistory } from "./endpoints/app/history.ts";
import { deviceCurrent } from "./endpoints/devices/current.ts";
import { deviceHistory } from "./endpoints/devices/history.ts";
import { deviceLastRequests } from "./endpoints/devices/last-requests.ts";
import { nearby } from "./endpoints/devices/nearby.ts";
import { ingestLocations } from "./endpoints/ingest/locations.ts";
import { quarantineDelete } from "./endpoints/quarantine/delete.ts";
import { quarantineEntry } from "./endpoints/quarantine/entry.ts";
import { quarantineList } from "./endpoints/quarantine/list.ts";
import { quarantineReplay } from "./endpoints/quarantine/replay.ts";
import { docsAssets, docsPage } from "./endpoints/service/docs-page.ts";
import { documentOf } from "./endpoints/service/document.ts";
import { health } from "./endpoints/service/health.ts";
import { metrics } from "./endpoints/service/metrics.ts";
import { ready } from "./endpoints/service/ready.ts";
import { userCurrent } from "./endpoints/users/current.ts";
import { userDevices } from "./endpoints/users/devices.ts";
import { userHistory } from "./endpoints/users/history.ts";

/** Every endpoint, in the order of the document. What is in this list is served, described and tried by the tests. */
export const ENDPOINTS: readonly Endpoint[] = [
  health,
  ready,
  nearby,
  userCurrent,
  userHistory,
  userDevices,
  deviceCurrent,
  deviceHistory,
  deviceLastRequests,
  appCurrent,
  appHistory,
  appDoctor,
  quarantineList,
  quarantineEntry,
  quarantineReplay,
  quarantineDelete,
  ingestLocations,
  ...CLIENT_ENDPOINTS,
  metrics,
  documentOf(() => ENDPOINTS),
  docsPage,
  ...docsAssets,
];
