import { fail, ok, type Result } from "../../lib/result.ts";
import { wait } from "../../lib/schedule/timers.ts";
import type { AppId, DeviceId, UserId } from "../../model/ids.ts";
import {
  type Ask,
  askServer,
  type OptionNames,
  type RemoteServer,
  refusalText,
  retryAfterSeconds,
  sendRequest,
} from "../../operator/remote/ask-server.ts";
import type { ExportOptions } from "./command.ts";
import { RecordMarks } from "./record-marks.ts";
import { ExportFailedError, type ExportFrom, type OpenExport, type OutputFormat } from "./source.ts";
import type { PlannedFile } from "./split-plan.ts";

/** If a server is busy, the request is repeated after the time that the server names, up to a minute. */
const ATTEMPTS_MAX = 10;
const WAIT_SECONDS_MAX = 60;

/** Exports through a running server. */
export function createServerSource(
  command: ExportOptions,
  server: RemoteServer & { readonly appId: AppId | null },
  ask: Ask,
  signal: AbortSignal,
): ExportFrom {
  const { url } = server;
  /** Remembers that the key's app was checked: a split export opens many files. */
  let isOfApp = server.appId === null;

  /** Retries if the server is busy: a split export may exceed the key's rate limit. */
  async function begin(parameters: URLSearchParams): Promise<Result<Response, string>> {
    for (let attempt = 1; ; attempt++) {
      const answer = await askOnce(parameters);
      if (!answer.ok || answer.value.status === 200) return answer;
      const { status, headers } = answer.value;
      const seconds = retryAfterSeconds(headers);
      if ((status !== 429 && status !== 503) || seconds === null || attempt === ATTEMPTS_MAX) {
        const body: unknown = await answer.value.json().catch(() => null);
        return fail(refusalText(url, status, body, EXPORT_OPTIONS));
      }
      await answer.value.body?.cancel();
      await wait(Math.min(WAIT_SECONDS_MAX, seconds) * 1000, signal);
      signal.throwIfAborted();
    }
  }

  async function askOnce(parameters: URLSearchParams): Promise<Result<Response, string>> {
    const response = await sendRequest(server, `/api/v1/export?${parameters}`, ask, { signal });
    if (!response.ok) signal.throwIfAborted();
    return response;
  }

  return {
    listDevices: () => listDevices(server, ask),
    async open(file, written) {
      if (!isOfApp) {
        const fault = await appFault(server, ask);
        if (fault !== null) return fail(fault);
        isOfApp = true;
      }
      const response = await begin(parametersOf(command.userId, file, written));
      return response.ok ? ok(openExport(written.format.name, url, response.value, signal)) : response;
    },
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
  rs: "--rs",
};

function parametersOf(
  userId: UserId | null,
  { from, to, deviceIds }: Omit<PlannedFile, "name">,
  { format, options }: OutputFormat,
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
 * one might be listed twice or not at all.
 */
async function listDevices(server: RemoteServer, ask: Ask): Promise<Result<readonly DeviceId[], string>> {
  const answer = await askServer(server, "GET", "/api/v1/locations/current/columns", ask);
  if (!answer.ok) return answer;
  const { device_id } = answer.value;
  if (!Array.isArray(device_id)) return fail(`${server.url} does not answer like a Wherehouse server.`);
  return ok(device_id);
}
