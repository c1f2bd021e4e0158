import { addressOf, inUrl } from "./address.ts";
import type { Setup, SetupRequest } from "./setup.ts";

export function overlandSetup(request: SetupRequest): Setup {
  const { key, deviceId } = request;
  const url = addressOf(request, "overland");
  const device = deviceId === null ? "" : `&device_id=${inUrl(deviceId)}`;
  return {
    app: "Overland",
    place: "Settings > Receiver Endpoint",
    fields: [
      { name: "Endpoint URL", value: url },
      { name: "Access Token", value: key },
      { name: "Device ID", value: deviceId ?? "what the phone is to be called" },
    ],
    paste: null,
    link: { url: `overland://setup?url=${inUrl(url)}&token=${key}${device}&unique_id=yes`, opensApp: true },
    isOneDevice: true,
    notes: [
      'Leave "Consider HTTP 2XX successful" off: with it the app deletes points that nobody has stored.',
    ],
  };
}
