import { inlineJson } from "../../lib/text/inline-json.ts";
import { addressOf } from "./address.ts";
import type { Setup, SetupRequest } from "./setup.ts";

/** The app's own default, which counts as no user. It sends a password only beside a user name. */
const NO_USER = "user";

export function owntracksSetup(request: SetupRequest): Setup {
  const { key, deviceId, userId } = request;
  const url = addressOf(request, "owntracks");
  return {
    app: "OwnTracks",
    place: "Preferences > Connection (iOS: the i, then Settings)",
    fields: [
      { name: "Mode", value: "HTTP" },
      { name: "URL", value: url },
      {
        name: "Username",
        value: userId ?? (deviceId === null ? "whose phone it is; it must not be empty" : NO_USER),
      },
      { name: "Password", value: key },
      { name: "Device ID", value: deviceId ?? "what the phone is to be called" },
    ],
    paste: null,
    link: {
      url: `owntracks:///config?inline=${inlineJson({
        _type: "configuration",
        mode: 3,
        url,
        username: userId ?? NO_USER,
        password: key,
        ...(deviceId === null ? {} : { deviceId }),
        auth: true,
      })}`,
      opensApp: true,
    },
    isOneDevice: true,
    notes: [
      "The link works once the app's settings allow configuration by URI; until then it is ignored.",
      "On Android a change of URL, user or mode deletes what the app has not sent yet: let it send all of it first.",
    ],
  };
}
