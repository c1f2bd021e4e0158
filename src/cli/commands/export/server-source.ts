import { isObject } from "../../../lib/is-object.ts";
import { fail, ok, type Result } from "../../../lib/result.ts";
import type { AppId, DeviceId } from "../../../model/ids.ts";
import { type Ask, type AskedServer, askServer } from "../../../service/ask-server.ts";
import { noAnswer } from "../../../service/no-answer.ts";
import type { ExportCommand } from "../../arguments/export/export-command.ts";
import { RecordMarks } from "./record-marks.ts";
import { ExportFailedError, type ExportFrom, type OpenExport } from "./source.ts";
import type { PlannedFile } from "./split-plan.ts";

/** Devices that are asked for at once: as many as the server gives. */
const DEVICES_PAGE = 1000;

/** Exports by way of a running server. */
export function createServerSource(
  command: ExportCommand,
  server: AskedServer & { readonly appId: AppId | null },
  ask: Ask,
  signal: AbortSignal,
): ExportFrom {
  const { url, key } = server;

  /** The answer, once it has begun. */
  async function begin(file: Omit<PlannedFile, "name">): Promise<Result<Response, string>> {
    let response: Response;
    try {
      response = await ask(`${url}/api/v1/export?${parametersOf(command, file)}`, {
        headers: { authorization: `Bearer ${key}` },
        redirect: "error", // The key is for this server.
        signal,
      });
    } catch (cause) {
      signal.throwIfAborted();
      return fail(noAnswer(url, cause));
    }
    if (response.status === 200) return ok(response);
    const body: unknown = await response.json().catch(() => null);
    const reason = isObject(body) && typeof body.message === "string" ? `: ${body.message}` : "";
    return fail(`${url} answered ${response.status}${reason}.`);
  }

  return {
    listDevices: () => listDevices(server, ask),
    async open(file) {
      const fault = await appFault(server, ask);
      if (fault !== null) return fail(fault);
      const begun = await begin(file);
      return begun.ok ? ok(openExport(command.format.name, url, begun.value, signal)) : begun;
    },
    close: async () => undefined,
  };
}

function parametersOf(
  { format, options, userId }: ExportCommand,
  { from, to, deviceIds }: Omit<PlannedFile, "name">,
): URLSearchParams {
  const { zone, redact, recordSeparator, gapMs, simplifyMeters } = options;
  const parameters = new URLSearchParams({ format: format.name, start_date: from, end_date: to });
  for (const deviceId of deviceIds) parameters.append("device_id", deviceId);
  if (userId !== null) parameters.set("user_id", userId);
  if (zone !== null) parameters.set("timezone", zone.name);
  if (redact) parameters.set("redact", "true");
  if (recordSeparator) parameters.set("rs", "true");
  if (simplifyMeters !== null) parameters.set("simplify", String(simplifyMeters));
  parameters.set("gap", String(gapMs / 1000));
  return parameters;
}

function openExport(format: string, url: string, response: Response, signal: AbortSignal): OpenExport {
  const marks = new RecordMarks(format);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of response.body ?? []) {
        marks.push(piece);
        yield piece;
      }
    } catch (cause) {
      signal.throwIfAborted();
      throw new ExportFailedError(`${url} broke off before the end: nothing was kept of this file.`, {
        cause,
      });
    }
  }
  return {
    isIncomplete: response.headers.get("wherehouse-incomplete") === "true",
    pieces,
    get records() {
      return marks.records;
    },
  };
}

/** Why the key is another app's than the one that was named; null where it is not, or none was. */
async function appFault(
  server: AskedServer & { readonly appId: AppId | null },
  ask: Ask,
): Promise<string | null> {
  if (server.appId === null) return null;
  const answer = await askServer(server, "GET", "/api/v1/locations/current?limit=1", ask);
  if (!answer.ok) return answer.error;
  const { app_id } = answer.value;
  return app_id === server.appId ? null : `The key is of another app than "${server.appId}".`;
}

/** All devices of the key's app. */
async function listDevices(server: AskedServer, ask: Ask): Promise<Result<readonly DeviceId[], string>> {
  const devices: DeviceId[] = [];
  for (;;) {
    const page = `limit=${DEVICES_PAGE}&offset=${devices.length}`;
    const answer = await askServer(server, "GET", `/api/v1/locations/current?${page}`, ask);
    if (!answer.ok) return answer;
    const { locations } = answer.value;
    if (!Array.isArray(locations))
      return fail(`${server.url} does not answer as a server of Wherehouse does.`);
    for (const location of locations) devices.push(location.device_id);
    if (locations.length < DEVICES_PAGE) return ok(devices);
  }
}
