import type { Setup, SetupRequest } from "./setup.ts";

/** Big Ben, so that whoever tries it sees where it comes out. */
const TRIAL = '"latitude":51.5007,"longitude":-0.1246,"speed":3,"battery_level":81';

/** For who wants to see a report arrive before any app is set up, or writes a program. */
export function curlSetup({ serverUrl, key, deviceId }: SetupRequest): Setup {
  return {
    app: "curl",
    place: "any shell; a program sends the same",
    fields: [],
    paste: `\
curl ${serverUrl}/ingest/v1/locations \\
  -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\
  -d '{"device_id":${inQuotes(JSON.stringify(deviceId ?? "phone-1"))},"timestamp":'$(date +%s000)',${TRIAL}}'
`,
    link: null,
    isOneDevice: true,
    notes: [],
  };
}

/** As it stands between single quotes of a shell. */
function inQuotes(text: string): string {
  return text.replaceAll("'", "'\\''");
}
