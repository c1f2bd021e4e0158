import { keyedAddressOf } from "./address.ts";
import type { Setup, SetupRequest } from "./setup.ts";

export function opengtsSetup(request: SetupRequest): Setup {
  const { deviceId, userId } = request;
  const { scheme, host, port, path } = partsOf(keyedAddressOf(request, "opengts"));
  return {
    app: "OpenGTS (GPSLogger's and old trackers')",
    place: "Auto send > OpenGTS",
    fields: [
      { name: "Server", value: host },
      { name: "Port", value: port },
      { name: "Communication method", value: scheme.toUpperCase() },
      { name: "Server path", value: path },
      { name: "Device ID", value: deviceId ?? "what the phone is to be called" },
      { name: "Account name", value: userId ?? "whose phone it is" },
    ],
    paste: null,
    link: null,
    isOneDevice: true,
    notes: [],
  };
}

/** Not with `URL`, which would write a placeholder in small letters. */
function partsOf(address: string) {
  const [, scheme = "", host = "", port, path = ""] =
    /^(https?):\/\/([^/:[]+|\[[^\]]+\])(?::(\d+))?(.*)$/.exec(address) ?? [];
  return { scheme, host, port: port ?? (scheme === "https" ? "443" : "80"), path };
}
