import { fail, ok, type Result } from "../../lib/result.ts";
import { DEFAULT_RETENTION, FixedRetention, type Retention } from "../../model/time/retention.ts";
import { type Ask, type AskedServer, askServer } from "./ask-server.ts";

/** How far back a running server keeps records; one that doesn't say is from before that could be set. */
export async function askRetention(server: AskedServer, ask: Ask): Promise<Result<Retention, string>> {
  const ready = await askServer(server, "GET", "/ready", ask);
  if (!ready.ok) return ready;
  const { retention } = ready.value;
  if (retention === undefined) return ok(DEFAULT_RETENTION);
  const parsed = FixedRetention.parse(String(retention));
  return parsed.ok ? parsed : fail(`${server.url} has a retention that this program does not know.`);
}
