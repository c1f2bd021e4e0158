import { fail, ok, type Result } from "../../lib/result.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import type { Clock } from "../../model/time/clock.ts";
import {
  type Ask,
  askForAll,
  askServer,
  type OptionNames,
  type RemoteServer,
  refusalText,
  sendRequest,
} from "../../operator/remote/ask-server.ts";
import type { Platform } from "../../runtime/platform.ts";
import type { ExportOptions } from "./command.ts";
import { createServerData } from "./complete/server-data.ts";
import { patient } from "./patient-ask.ts";
import { RecordMarks } from "./record-marks.ts";
import {
  ExportFailedError,
  type ExportFrom,
  type OpenExport,
  type OutputFormat,
  type WantedRecords,
} from "./source.ts";

/** Exports through a running server. */
export function createServerSource(
  command: ExportOptions,
  server: Extract<ExportOptions["source"], { kind: "server" }>,
  plainAsk: Ask,
  { platform, clock }: { readonly platform: Platform; readonly clock: Clock },
  signal: AbortSignal,
): ExportFrom {
  const { url } = server;
  const ask = patient(plainAsk, signal);
  /** Remembers that the key's app was checked: a split export opens many files. */
  let isOfApp = server.appId === null;

  async function begin(parameters: URLSearchParams): Promise<Result<Response, string>> {
    const answer = await sendRequest(server, `/api/v1/export?${parameters}`, ask, { signal });
    if (!answer.ok) signal.throwIfAborted();
    if (!answer.ok || answer.value.status === 200) return answer;
    const body: unknown = await answer.value.json().catch(() => null);
    return fail(refusalText(url, answer.value.status, body, EXPORT_OPTIONS));
  }

  return {
    listDevices: (originals) => listDevices(originals, server, ask),
    async open(records, written) {
      if (!isOfApp) {
        const fault = await appFault(server, ask);
        if (fault !== null) return fail(fault);
        isOfApp = true;
      }
      const response = await begin(parametersOf(command.userId, records, written));
      return response.ok ? ok(openExport(written.format.name, url, response.value, signal)) : response;
    },
    data: createServerData({ server, dataDir: command.dataDir, ask, platform, clock, signal }),
    close: async () => undefined,
  };
}

/** The option for each parameter of the server's export. */
export const EXPORT_OPTIONS: OptionNames = {
  format: "--format",
  start_date: "--from",
  end_date: "--to",
  timezone: "--timezone",
  device_id: "--device",
  user_id: "--user",
  gap: "--gap",
  simplify: "--simplify",
  redact: "--redact",
  originals: "--originals",
  rs: "--rs",
};

function parametersOf(
  userId: ExportOptions["userId"],
  { from, to, deviceIds, originals }: WantedRecords,
  { format, options }: OutputFormat,
): URLSearchParams {
  const { zone, redact, recordSeparator, gapMs, simplifyMeters } = options;
  const parameters = new URLSearchParams({ format: format.name, start_date: from, end_date: to });
  for (const deviceId of deviceIds) parameters.append("device_id", deviceId);
  if (userId !== null) parameters.set("user_id", userId);
  if (zone !== null) parameters.set("timezone", zone.name);
  if (originals) parameters.set("originals", "true");
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
      throw new ExportFailedError(`${url} closed the connection before the end: this file was not written.`, {
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

/** Why the key can't be used for `--app`; null if it belongs to that app. */
async function appFault(
  server: RemoteServer & { readonly appId: AppId | null },
  ask: Ask,
): Promise<string | null> {
  const answer = await askServer(server, "GET", "/api/v1/locations/current?limit=1", ask);
  if (!answer.ok) return answer.error;
  const { app_id } = answer.value;
  return app_id === server.appId ? null : `The key belongs to another app, not to "${server.appId}".`;
}

/**
 * All devices of the key's app, from one response: between two pages of a list devices appear and disappear, so that
 * one might be listed twice or not at all. If originals are exported, also the devices that have corrections.
 */
async function listDevices(
  originals: boolean,
  server: RemoteServer,
  ask: Ask,
): Promise<Result<readonly DeviceId[], string>> {
  const answer = await askServer(server, "GET", "/api/v1/locations/current/columns", ask);
  if (!answer.ok) return answer;
  const { device_id } = answer.value;
  if (!Array.isArray(device_id)) return fail(`${server.url} does not answer like a Wherehouse server.`);
  if (!originals) return ok(device_id);
  const list = { path: "/api/v1/corrections", parameters: { state: "active" }, member: "corrections" };
  const corrections = await askForAll(server, list, ask);
  if (!corrections.ok) return corrections;
  const corrected = corrections.value.map((each) => (each as { device_id: DeviceId }).device_id);
  return ok([...new Set([...device_id, ...corrected])]);
}
