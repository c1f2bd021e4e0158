import { sessionEndpoint } from "../../endpoint.ts";
import { presentRequests } from "../devices/last-requests.ts";
import { KEYS_PATH, keyId, keyIdOf } from "./keys.ts";

/**
 * What was heard of the device that a phone's key is bound to, while the page waits for its first report: none is an
 * empty list, not the 404 of `last-requests`, which browsers would show in their console each time it is asked.
 */
export const keyRequests = sessionEndpoint(
  "GET",
  `${KEYS_PATH}/:keyId/requests`,
  ({ madeKeys, doctor }) =>
    (call, { key: maker }) => {
      const id = keyIdOf(call.request);
      const deviceId = madeKeys.listOf(maker).find((key) => key.id === id)?.deviceId;
      if (deviceId == null) return call.fail({ kind: "key_not_found" });
      return call.object(
        { requests: presentRequests(doctor.lastRequests(maker.appId, deviceId) ?? []) },
        200,
      );
    },
  { keyId },
);
