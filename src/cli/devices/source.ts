import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { type ProfileMembers, parseDeviceProfile, profileMembers } from "../../model/device-profile.ts";
import type { DeviceId } from "../../model/ids.ts";
import {
  askForAll,
  fetchAnswer,
  jsonRequest,
  type RemoteServer,
  refusalText,
} from "../../operator/remote/ask-server.ts";
import { createListDevices } from "../../service/queries/list-devices.ts";
import type { AppChoice } from "../arguments/app-choice.ts";
import type { CommandContext } from "../arguments/command.ts";
import { errorSentence, openForApp } from "../directory/open-for-app.ts";

/** A device as the commands show it, in the words of the API. */
export interface DeviceRow extends ProfileMembers {
  readonly device_id: string;
  readonly last_seen?: number;
}

export interface DeviceFilter {
  readonly text: string | null;
  readonly tag: string | null;
}

/** The profiles of an app, wherever they are. Errors are sentences. */
export interface ProfileSource {
  list(filter: DeviceFilter): Promise<Result<readonly DeviceRow[], string>>;
  /** Null if the device has no profile. */
  find(deviceId: DeviceId): Promise<Result<ProfileMembers | null, string>>;
  /** Sets the whole profile, or deletes it. */
  set(deviceId: DeviceId, members: ProfileMembers | null): Promise<Result<void, string>>;
  close(): Promise<void>;
}

export function openSource(
  choice: AppChoice,
  command: string,
  context: CommandContext,
): Promise<Result<ProfileSource, string>> {
  if (choice.kind === "server") return Promise.resolve(ok(serverSource(choice)));
  return openDirectorySource(choice, command, context);
}

function serverSource(server: RemoteServer): ProfileSource {
  const pathOf = (deviceId: DeviceId) => `/api/v1/devices/${encodeURIComponent(deviceId)}/profile`;

  /** The object of a 200, or null for a 404. */
  async function ask(
    method: string,
    path: string,
    body?: ProfileMembers,
  ): Promise<Result<Readonly<Record<string, unknown>> | null, string>> {
    const request = body === undefined ? { method } : jsonRequest(method, body);
    const answer = await fetchAnswer(server, path, fetch, request);
    if (!answer.ok) return answer;
    const { status, headers, body: object } = answer.value;
    if (status === 200 && isObject(object)) return ok(object);
    if (headers.get("wherehouse-error-code") === "NOT_FOUND_007") return ok(null);
    return fail(refusalText(server.url, status, object));
  }

  return {
    async list({ text, tag }) {
      const devices = { path: "/api/v1/devices", parameters: { text, tag }, member: "devices" };
      const rows = await askForAll(server, devices, fetch);
      return rows.ok ? ok(rows.value as readonly DeviceRow[]) : rows;
    },
    async find(deviceId) {
      const answer = await ask("GET", pathOf(deviceId));
      return answer.ok ? ok((answer.value?.profile ?? null) as ProfileMembers | null) : answer;
    },
    async set(deviceId, members) {
      const answer = await (members === null
        ? ask("DELETE", pathOf(deviceId))
        : ask("PUT", pathOf(deviceId), members));
      return answer.ok ? ok(undefined) : answer;
    },
    close: async () => undefined,
  };
}

async function openDirectorySource(
  { dataDir, appId }: Extract<AppChoice, { kind: "directory" }>,
  command: string,
  context: CommandContext,
): Promise<Result<ProfileSource, string>> {
  const opened = await openForApp(dataDir, command, context);
  if (!opened.ok) return opened;
  const { directory, retention, signal } = opened.value;
  const { hot, scheduler, editProfile, close } = directory;
  const listDevices = createListDevices({ hot, clock: context.clock, retention, scheduler });
  return ok({
    async list(filter) {
      const all = { ...filter, offset: 0, limit: Number.MAX_SAFE_INTEGER };
      const { devices } = await listDevices(appId, all, { signal });
      return ok(
        devices.map(({ deviceId, lastSeenMs, profile }) => ({
          device_id: deviceId,
          ...(lastSeenMs === null ? {} : { last_seen: lastSeenMs }),
          ...(profile === null ? {} : profileMembers(profile)),
        })),
      );
    },
    async find(deviceId) {
      const profile = hot.profiles.find(appId, deviceId);
      return ok(profile === null ? null : profileMembers(profile));
    },
    async set(deviceId, members) {
      const profile = members === null ? null : parseDeviceProfile({ ...members });
      if (profile !== null && !profile.ok) return profile;
      const edited = await editProfile(appId, deviceId, profile === null ? null : profile.value);
      return edited.ok ? ok(undefined) : fail(errorSentence(edited.error));
    },
    close,
  });
}
