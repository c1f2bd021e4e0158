import { inUrl, keyedAddressOf } from "./address.ts";
import type { Setup, SetupRequest } from "./setup.ts";

/** Seconds, meters and accuracy as most people want them; all can be changed in the app. */
const SETTINGS = "interval=60&distance=75&accuracy=high";

export function traccarSetup(request: SetupRequest): Setup {
  const { deviceId } = request;
  const url = keyedAddressOf(request, "traccar");
  const device = deviceId === null ? "" : `id=${inUrl(deviceId)}&`;
  return {
    app: "Traccar Client",
    place: "Settings",
    fields: [
      { name: "Server URL", value: url },
      { name: "Device identifier", value: deviceId ?? "what the phone is to be called" },
    ],
    paste: null,
    link: { url: `${url}?${device}${SETTINGS}`, opensApp: false },
    isOneDevice: true,
    notes: [
      "Versions 9 and 10 have a button for QR codes in their settings; into version 8 type the two fields.",
      "Version 8 on iOS deletes a point on any answer, also on one that says that it was not stored: update it.",
    ],
  };
}
