import { addressOf } from "./address.ts";
import type { Setup, SetupRequest } from "./setup.ts";

export function traccarForwardSetup(request: SetupRequest): Setup {
  return {
    app: "a Traccar server that forwards",
    place: "conf/traccar.xml, between the properties; then restart",
    fields: [],
    paste: entries(addressOf(request, "traccar-forward"), request.key),
    link: null,
    isOneDevice: false,
    notes: ["It keeps what it can't send in memory alone, so it is no way to move for good."],
  };
}

function entries(address: string, key: string): string {
  return `\
<entry key='forward.type'>json</entry>
<entry key='forward.url'>${address.replaceAll("&", "&amp;")}</entry>
<entry key='forward.header'>Authorization: Bearer ${key}</entry>
<entry key='forward.retry.enable'>true</entry>
`;
}
