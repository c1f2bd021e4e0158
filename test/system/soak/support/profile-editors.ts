import { isDeepStrictEqual } from "node:util";
import { DEVICE_ICONS } from "../../../../src/model/device-profile.ts";
import { createReferenceProfiles, type Members } from "../../../reference/profiles.ts";
import { type Client, get } from "../../support/client.ts";
import type { Picker } from "../../support/random.ts";

/** Clients that set and delete profiles, and what each device's profile must be. */
export interface ProfileEditors {
  readonly acknowledgedEdits: number;
  /** All clients edit until the server is gone. */
  editOn(options: EditOptions): Promise<void>;
  /** Asks for all profiles of the app; returns what is missing, changed or too much. */
  findWrong(client: Client): Promise<string[]>;
}

interface EditOptions {
  readonly client: Client;
  readonly pick: Picker;
  /** True from the moment that the server may be gone. */
  readonly isOver: () => boolean;
  readonly onWrong: (what: string) => void;
}

interface Edit {
  readonly deviceId: string;
  /** Null to delete. */
  readonly members: Members | null;
}

const EDITORS = 3;
const PAGE = 1000;
const DELETED_SHARE = 0.3;

/** Each device is edited by one client alone, so the order of its edits is known. */
export function createProfileEditors(deviceIds: readonly string[]): ProfileEditors {
  const profiles = createReferenceProfiles();
  const edited = new Set<string>();
  /** Edits that were sent and never answered: they may be there whole, or not at all. */
  let open: Edit[] = [];
  let acknowledgedEdits = 0;
  let names = 0;

  function nextEdit(own: readonly string[], pick: Picker): Edit {
    const deviceId = pick.item(own);
    const deletes = profiles.find(deviceId) !== null && pick.maybe(DELETED_SHARE, () => true) === true;
    return { deviceId, members: deletes ? null : randomMembers(`name ${names++}`, pick) };
  }

  async function editAsOne(own: readonly string[], options: EditOptions): Promise<void> {
    const { client, pick, isOver, onWrong } = options;
    for (let lastSequence = 0; !isOver(); ) {
      const edit = nextEdit(own, pick);
      edited.add(edit.deviceId);
      try {
        const { status, body } = await send(client, edit);
        if (status !== 200 || !(Number(body.sequence) > lastSequence)) {
          open.push(edit);
          onWrong(`the profile of ${edit.deviceId} was answered ${status} ${JSON.stringify(body)}`);
          return;
        }
        lastSequence = Number(body.sequence);
      } catch (error) {
        open.push(edit);
        if (!isOver()) onWrong(`a connection broke: ${error}`);
        return;
      }
      profiles.set(edit.deviceId, edit.members);
      acknowledgedEdits++;
      if (pick.maybe(0.3, () => true)) await askBack(edit.deviceId, options);
    }
  }

  async function askBack(deviceId: string, { client, isOver, onWrong }: EditOptions): Promise<void> {
    try {
      const response = await get(client, pathOf(deviceId));
      const { profile = null } = (await response.json()) as { profile?: Members };
      const fault = faultOf(deviceId, profile, profiles.find(deviceId));
      if (fault !== null) onWrong(`just acknowledged: ${fault}`);
    } catch (error) {
      if (!isOver()) onWrong(`${pathOf(deviceId)}: ${error}`);
    }
  }

  return {
    get acknowledgedEdits() {
      return acknowledgedEdits;
    },
    async editOn(options) {
      const shares = Array.from({ length: EDITORS }, (_, editor) =>
        deviceIds.filter((_id, index) => index % EDITORS === editor),
      );
      await Promise.all(shares.map((own) => editAsOne(own, options)));
    },
    async findWrong(client) {
      const listed = await listProfiles(client);
      for (const { deviceId, members } of open)
        if ((listed.get(deviceId)?.name ?? null) === (members?.name ?? null)) profiles.set(deviceId, members);
      open = [];
      const wrong: string[] = [];
      for (const deviceId of new Set([...listed.keys(), ...edited])) {
        const fault = faultOf(deviceId, listed.get(deviceId) ?? null, profiles.find(deviceId));
        if (fault !== null) wrong.push(fault);
      }
      return wrong;
    },
  };
}

function faultOf(deviceId: string, actual: Members | null, expected: Members | null): string | null {
  if (isDeepStrictEqual(actual, expected)) return null;
  return `the profile of ${deviceId} should be ${JSON.stringify(expected)} but is ${JSON.stringify(actual)}`;
}

const pathOf = (deviceId: string) => `/api/v1/devices/${encodeURIComponent(deviceId)}/profile`;

/** From some bytes to some thousand, so that a kill finds entries of all lengths half written. */
function randomMembers(name: string, pick: Picker): Members {
  return {
    name,
    color: pick.maybe(0.5, () => pick.item(["#1a73e8", "#00aa00"])) ?? null,
    icon: pick.maybe(0.5, () => pick.item(DEVICE_ICONS)) ?? null,
    tags: Array.from({ length: pick.integer(0, 3) }, (_, index) => `tag ${index}`),
    metadata: pick.maybe(0.4, () => ({ text: "x".repeat(pick.integer(0, 4000)) })) ?? null,
  };
}

async function send({ url, key }: Client, { deviceId, members }: Edit) {
  const response = await fetch(`${url}${pathOf(deviceId)}`, {
    method: members === null ? "DELETE" : "PUT",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(members === null ? {} : { body: JSON.stringify(members) }),
  });
  return { status: response.status, body: (await response.json()) as Members };
}

/** By device. A device that never reported is listed for its profile alone. */
async function listProfiles(client: Client): Promise<ReadonlyMap<string, Members>> {
  const listed = new Map<string, Members>();
  for (let offset = 0, hasMore = true; hasMore; offset += PAGE) {
    const response = await get(client, `/api/v1/devices?limit=${PAGE}&offset=${offset}`);
    const page = (await response.json()) as { devices: Members[]; pagination: { has_more: boolean } };
    for (const { device_id, last_seen, ...members } of page.devices)
      if (last_seen === undefined || Object.keys(members).length > 0) listed.set(String(device_id), members);
    hasMore = page.pagination.has_more;
  }
  return listed;
}
