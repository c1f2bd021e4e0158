import { CLIENT_ENDPOINTS } from "./clients/client-endpoints.ts";
import type { Endpoint } from "./endpoint.ts";
import { appCurrent } from "./endpoints/app/current.ts";
import { appDoctor } from "./endpoints/app/doctor.ts";
import { appExport } from "./endpoints/app/export.ts";
import { appHistory } from "./endpoints/app/history.ts";
import { importFile } from "./endpoints/app/imports.ts";
import { ingestLocations } from "./endpoints/app/locations.ts";
import { userCurrent } from "./endpoints/app/user-current.ts";
import { userDevices } from "./endpoints/app/user-devices.ts";
import { userHistory } from "./endpoints/app/user-history.ts";
import { createCorrection } from "./endpoints/corrections/create.ts";
import { listCorrections } from "./endpoints/corrections/list.ts";
import { oneCorrection, undoCorrection } from "./endpoints/corrections/one.ts";
import { deviceCurrent } from "./endpoints/devices/current.ts";
import { deviceDays } from "./endpoints/devices/days.ts";
import { deviceHistory } from "./endpoints/devices/history.ts";
import { deviceLastRequests } from "./endpoints/devices/last-requests.ts";
import { listDevices } from "./endpoints/devices/list.ts";
import { nearby } from "./endpoints/devices/nearby.ts";
import { deviceOutliers } from "./endpoints/devices/outliers.ts";
import { deleteDeviceProfile, deviceProfile, setDeviceProfile } from "./endpoints/devices/profile.ts";
import { deviceSeries } from "./endpoints/devices/series.ts";
import { deviceStops } from "./endpoints/devices/stops.ts";
import { deviceTrack } from "./endpoints/devices/track.ts";
import { createErasure } from "./endpoints/erasures/create.ts";
import { listErasures } from "./endpoints/erasures/list.ts";
import { oneErasure } from "./endpoints/erasures/one.ts";
import { appEvents, deviceEvents } from "./endpoints/events/app-events.ts";
import { alertEvents, geofenceEvents } from "./endpoints/events/watch-events.ts";
import {
  createAlert,
  deleteAlert,
  listAlerts,
  oneAlert,
  replaceAlert,
} from "./endpoints/geofences/alerts.ts";
import { createGeofence } from "./endpoints/geofences/create.ts";
import { geofenceDevices } from "./endpoints/geofences/devices.ts";
import { importGeofences } from "./endpoints/geofences/import.ts";
import { listGeofences } from "./endpoints/geofences/list.ts";
import { deleteGeofence, oneGeofence, replaceGeofence } from "./endpoints/geofences/one.ts";
import { previewAlert, previewGeofence } from "./endpoints/geofences/preview.ts";
import { baseMapEndpoints } from "./endpoints/map/base-map.ts";
import { appColumns } from "./endpoints/map/columns.ts";
import { density } from "./endpoints/map/density.ts";
import { keyRequests, listKeys, makeKey, revokeKey } from "./endpoints/map/keys.ts";
import { live } from "./endpoints/map/live.ts";
import { mapPage } from "./endpoints/map/map-page.ts";
import { beginSession, endSession, showSession } from "./endpoints/map/session.ts";
import { vectorTile } from "./endpoints/map/tile.ts";
import { appTracks } from "./endpoints/map/tracks.ts";
import { quarantineDelete } from "./endpoints/quarantine/delete.ts";
import { quarantineEntry } from "./endpoints/quarantine/entry.ts";
import { quarantineList } from "./endpoints/quarantine/list.ts";
import { quarantineReplay } from "./endpoints/quarantine/replay.ts";
import { copiedFile, copyPlan } from "./endpoints/service/copy.ts";
import { docsAssets, docsPage } from "./endpoints/service/docs-page.ts";
import { documentOf } from "./endpoints/service/document.ts";
import { health } from "./endpoints/service/health.ts";
import { metrics } from "./endpoints/service/metrics.ts";
import { ready } from "./endpoints/service/ready.ts";

import { createWebhook, listWebhooks } from "./endpoints/webhooks/create.ts";
import { redeliverWebhook, testWebhook, webhookDeliveries } from "./endpoints/webhooks/deliveries.ts";
import {
  deleteWebhook,
  oneWebhook,
  pauseWebhook,
  replaceWebhook,
  resumeWebhook,
  rotateWebhook,
} from "./endpoints/webhooks/one.ts";

/** Every endpoint, in the order of the document. Endpoints in this list are served, described and tested. */
export const ENDPOINTS: readonly Endpoint[] = [
  health,
  ready,
  nearby,
  userCurrent,
  userHistory,
  userDevices,
  deviceCurrent,
  deviceHistory,
  deviceSeries,
  deviceStops,
  deviceTrack,
  deviceDays,
  deviceOutliers,
  deviceLastRequests,
  deviceProfile,
  setDeviceProfile,
  deleteDeviceProfile,
  listDevices,
  appCurrent,
  appColumns,
  appHistory,
  live,
  appExport,
  appDoctor,
  appTracks,
  density,
  vectorTile,
  listGeofences,
  createGeofence,
  importGeofences,
  previewGeofence,
  previewAlert,
  oneGeofence,
  replaceGeofence,
  deleteGeofence,
  listAlerts,
  createAlert,
  oneAlert,
  replaceAlert,
  deleteAlert,
  appEvents,
  geofenceEvents,
  geofenceDevices,
  alertEvents,
  deviceEvents,
  listWebhooks,
  createWebhook,
  oneWebhook,
  replaceWebhook,
  deleteWebhook,
  pauseWebhook,
  resumeWebhook,
  rotateWebhook,
  webhookDeliveries,
  redeliverWebhook,
  testWebhook,
  createCorrection,
  listCorrections,
  oneCorrection,
  undoCorrection,
  createErasure,
  listErasures,
  oneErasure,
  quarantineList,
  quarantineEntry,
  quarantineReplay,
  quarantineDelete,
  ingestLocations,
  importFile,
  ...CLIENT_ENDPOINTS,
  metrics,
  copyPlan,
  copiedFile,
  documentOf(() => ENDPOINTS),
  docsPage,
  ...docsAssets,
  ...mapPage,
  beginSession,
  showSession,
  endSession,
  listKeys,
  makeKey,
  revokeKey,
  keyRequests,
  ...baseMapEndpoints,
];
