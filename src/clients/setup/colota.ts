import { inlineJson } from "../../lib/text/inline-json.ts";
import { addressOf } from "./address.ts";
import type { Setup, SetupRequest } from "./setup.ts";

export function colotaSetup(request: SetupRequest): Setup {
  const { key } = request;
  const endpoint = addressOf(request, "colota");
  const auth = { type: "bearer", bearerToken: key };
  return {
    app: "Colota",
    place: "Settings > Connection",
    fields: [
      { name: "Endpoint", value: endpoint },
      { name: "Template", value: "GeoPulse" },
      { name: "Authentication", value: "Bearer token" },
      { name: "Token", value: key },
    ],
    paste: null,
    link: {
      url: `colota://setup?config=${inlineJson({ endpoint, apiTemplate: "geopulse", httpMethod: "POST", auth })}`,
      opensApp: true,
    },
    isOneDevice: true,
    notes: ["It takes http for addresses of a private network alone; any other needs https."],
  };
}
