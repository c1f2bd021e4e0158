import { SHOWN_BYTES_MAX } from "../../../http/endpoints/quarantine/entry.ts";
import { isObject } from "../../../lib/is-object.ts";
import { fail, ok, type Result } from "../../../lib/result.ts";
import { type AppId, parseAppId } from "../../../model/ids.ts";
import type { Clock } from "../../../model/time/clock.ts";
import { askEntries } from "../../../operator/remote/ask-quarantine.ts";
import {
  type Answer,
  type Ask,
  askForAll,
  fetchAnswer,
  refusalText,
  sendRequest,
} from "../../../operator/remote/ask-server.ts";
import type { Platform } from "../../../runtime/platform.ts";
import { findServerKeys } from "./find-keys.ts";
import {
  type DataFault,
  failed,
  type ListedCorrection,
  type PersonalData,
  withheld,
} from "./personal-data.ts";

/** The server of an export, and the machine on which the command runs. */
interface Connection {
  readonly server: { readonly url: string; readonly key: string; readonly appId: AppId | null };
  /** Where the keys are, if the server runs on this machine. */
  readonly dataDir: string;
  readonly ask: Ask;
  readonly platform: Platform;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const NO_EDIT = "corrections, and records as they were reported (the key may not edit)";

/** What a running server has about devices and users besides records. */
export function createServerData({
  server,
  dataDir,
  ask,
  platform,
  clock,
  signal,
}: Connection): PersonalData {
  const { url, key } = server;

  async function get(path: string): Promise<Result<Answer, DataFault>> {
    const answer = await fetchAnswer(server, path, ask);
    signal.throwIfAborted();
    return answer.ok ? answer : fail(failed(answer.error));
  }

  const refused = ({ status, body }: Answer) => fail(failed(refusalText(url, status, body)));

  return {
    async findApp() {
      const answer = await get("/api/v1/locations/current?limit=1");
      if (!answer.ok) return answer;
      const { status, body } = answer.value;
      if (status !== 200 || !isObject(body)) return refused(answer.value);
      const appId = parseAppId(String(body.app_id));
      if (appId === null) return fail(failed(`${url} does not answer like a Wherehouse server.`));
      return server.appId === null || appId === server.appId
        ? ok(appId)
        : fail(failed(`The key belongs to another app, not to "${server.appId}".`));
    },
    async hasRecords(deviceId, originals) {
      const query = new URLSearchParams({ device_id: deviceId, ...(originals ? { originals: "true" } : {}) });
      const answer = await sendRequest(server, `/api/v1/export?${query}`, ask, { method: "HEAD", signal });
      signal.throwIfAborted();
      if (!answer.ok) return fail(failed(answer.error));
      const { status } = answer.value;
      // Other refusals come again, with their reasons, when the records are read.
      return ok(status !== 404);
    },
    async findProfile(deviceId) {
      const answer = await get(`/api/v1/devices/${encodeURIComponent(deviceId)}/profile`);
      if (!answer.ok) return answer;
      const { status, body } = answer.value;
      if (status === 404) return ok(null);
      return status === 200 && isObject(body) && isObject(body.profile)
        ? ok(body.profile)
        : refused(answer.value);
    },
    async listCorrections() {
      const first = await get("/api/v1/corrections?limit=1");
      if (!first.ok) return first;
      if (first.value.status === 403) return fail(withheld(NO_EDIT));
      const list = { path: "/api/v1/corrections", parameters: {}, member: "corrections" };
      const all = await askForAll(server, list, ask);
      return all.ok ? ok(all.value as readonly ListedCorrection[]) : fail(failed(all.error));
    },
    async listRefused() {
      const entries = await askEntries(server, { client: null, reason: null, deviceId: null }, ask);
      // An entry may come twice, if others arrive between two pages.
      return entries.ok
        ? ok([...new Map(entries.value.map((entry) => [entry.id, entry])).values()])
        : fail(failed(entries.error));
    },
    async findRefused(id) {
      const answer = await get(`/api/v1/quarantine/${encodeURIComponent(id)}`);
      if (!answer.ok) return answer;
      const { status, body } = answer.value;
      if (status === 404) return ok(null);
      if (status !== 200 || !isObject(body)) return refused(answer.value);
      const { success: _, ...members } = body;
      return ok(members);
    },
    bodyBytesMax: SHOWN_BYTES_MAX,
    listKeys: () => findServerKeys(dataDir, key, platform, clock),
  };
}
