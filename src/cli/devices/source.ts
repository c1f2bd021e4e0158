import type { OpenDirectory } from "../../app/open-directory.ts";
import { readClusterFile } from "../../cluster/cluster-file.ts";
import { DirectoryInUseError, takeDirectory } from "../../directory/take-directory.ts";
import { answerError } from "../../http/errors.ts";
import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { type ProfileMembers, parseDeviceProfile, profileMembers } from "../../model/device-profile.ts";
import type { DeviceId } from "../../model/ids.ts";
import { fetchAnswer, type RemoteServer, refusalText } from "../../operator/remote/ask-server.ts";
import { createListDevices } from "../../service/queries/list-devices.ts";
import type { CommandContext } from "../arguments/command.ts";
import { expectDataDirectory, openSettings } from "../directory/data-directory.ts";
import { openForCommand, releasing } from "../directory/open-for-command.ts";
import type { ProfilesChoice } from "./command.ts";

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

const PAGE_DEVICES = 1000;

export function openSource(
  choice: ProfilesChoice,
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
    const request =
      body === undefined
        ? { method }
        : { method, body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const answer = await fetchAnswer(server, path, fetch, request);
    if (!answer.ok) return answer;
    const { status, headers, body: object } = answer.value;
    if (status === 200 && isObject(object)) return ok(object);
    if (headers.get("wherehouse-error-code") === "NOT_FOUND_007") return ok(null);
    return fail(refusalText(server.url, status, object));
  }

  return {
    async list({ text, tag }) {
      const rows: DeviceRow[] = [];
      for (;;) {
        const query = new URLSearchParams({ limit: String(PAGE_DEVICES), offset: String(rows.length) });
        if (text !== null) query.set("text", text);
        if (tag !== null) query.set("tag", tag);
        const page = await ask("GET", `/api/v1/devices?${query}`);
        if (!page.ok) return page;
        const devices = page.value?.devices;
        if (!Array.isArray(devices)) return fail(`${server.url} is no Wherehouse server.`);
        rows.push(...(devices as DeviceRow[]));
        if (devices.length < PAGE_DEVICES) return ok(rows);
      }
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

const OF_NODE =
  "This is the directory of a node of a cluster, whose log is on the NATS servers: use --url and --key of a running node.";

async function openDirectorySource(
  { dataDir, appId }: Extract<ProfilesChoice, { kind: "directory" }>,
  command: string,
  { platform, clock, terminal, stopSignal }: CommandContext,
): Promise<Result<ProfileSource, string>> {
  const { files } = platform;
  await expectDataDirectory(files, dataDir);
  if ((await readClusterFile(files, dataDir)) !== null) return fail(OF_NODE);
  let directory: OpenDirectory;
  const signal = stopSignal();
  try {
    const release = await takeDirectory(dataDir, command, platform, clock);
    const settings = await openSettings(command, dataDir, platform, clock).catch(releasing(release));
    directory = await openForCommand({
      dataDir,
      platform,
      clock,
      retention: settings.retention,
      say: (line) => terminal.error(`${line}\n`),
      onProgress: () => undefined,
      signal,
      release,
    });
    const { retention } = settings;
    return ok(directorySource(directory));

    function directorySource({ hot, scheduler, editProfile, close }: OpenDirectory): ProfileSource {
      const listDevices = createListDevices({ hot, clock, retention, scheduler });
      return {
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
          return edited.ok ? ok(undefined) : fail(`${String(answerError(edited.error).body.message)}.`);
        },
        close,
      };
    }
  } catch (error) {
    if (!(error instanceof DirectoryInUseError)) throw error;
    return fail(`${error.message} To ask a running server, use ${error.urlFlag} and --key.`);
  }
}
