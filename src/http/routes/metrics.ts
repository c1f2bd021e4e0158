import { Elysia } from "elysia";
import { METRICS_CONTENT_TYPE, type Scrape } from "../../metrics/scrape.ts";
import { bearerToken, type Call, type Gate } from "../gate.ts";
import { describeMetrics } from "../schema/describe.ts";

const PATH = "/metrics";

/** What the service counts and holds, of all apps together: for who operates it. */
export function metricsRoutes({ gate, scrape }: { readonly gate: Gate; readonly scrape: Scrape }) {
  const answer = async (call: Call) => call.text(await scrape(), METRICS_CONTENT_TYPE);
  const admit = gate.keyed("GET", PATH, "operate", answer);
  return new Elysia()
    .use(bearerToken())
    .get(PATH, ({ request, bearer }) => admit(request, bearer), { detail: describeMetrics });
}
