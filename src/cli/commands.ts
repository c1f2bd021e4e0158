import { type Command, loading } from "./arguments/command.ts";
import { CLUSTER_INIT, CLUSTER_NODES, JOIN } from "./cluster/command.ts";
import { CORRECTIONS_LIST, CORRECTIONS_UNDO } from "./corrections/command.ts";
import {
  CORRECTIONS_ASSIGN,
  CORRECTIONS_HIDE,
  CORRECTIONS_MOVE,
  CORRECTIONS_SHIFT,
} from "./corrections/make-command.ts";
import { DEMO } from "./demo/command.ts";
import { DEVICES_LIST, DEVICES_SET } from "./devices/command.ts";
import { BACKUP, RESTORE, SEAL, SETTINGS_LIST, SETTINGS_SET, VERIFY } from "./directory/command.ts";
import { ERASE } from "./erase/command.ts";
import { EXPORT } from "./export/command.ts";
import { GEOFENCES_EXPORT, GEOFENCES_IMPORT, GEOFENCES_LIST } from "./geofences/command.ts";
import { IMPORT } from "./import/command.ts";
import { KEYS_CREATE, KEYS_LINK, KEYS_LIST, KEYS_PASS_PHRASE, KEYS_REVOKE } from "./keys/command.ts";
import { MAP_FETCH } from "./map/command.ts";
import {
  DOCTOR,
  QUARANTINE_DELETE,
  QUARANTINE_LIST,
  QUARANTINE_REPLAY,
  QUARANTINE_SHOW,
} from "./remote/command.ts";
import { WEBHOOKS_LIST, WEBHOOKS_REDELIVER, WEBHOOKS_TEST } from "./remote/webhooks-command.ts";
import { SERVE } from "./serve/command.ts";

/**
 * Every command with the function that runs it, in the order of the help. The parser, `--help`, the documents' table
 * and the tests walk this list.
 */
export const COMMANDS: readonly Command[] = [
  loading(SERVE, async () => (await import("./serve/run.ts")).serve),
  loading(DEMO, async () => (await import("./demo/run.ts")).demo),
  loading(KEYS_CREATE, async () => (await import("./keys/keys.ts")).createKey),
  loading(KEYS_LIST, async () => (await import("./keys/keys.ts")).listKeys),
  loading(KEYS_LINK, async () => (await import("./keys/link.ts")).linkKey),
  loading(KEYS_REVOKE, async () => (await import("./keys/keys.ts")).revokeKey),
  loading(KEYS_PASS_PHRASE, async () => (await import("./keys/pass-phrase.ts")).setPassPhrase),
  loading(QUARANTINE_LIST, async () => (await import("./remote/quarantine.ts")).listQuarantine),
  loading(QUARANTINE_SHOW, async () => (await import("./remote/quarantine.ts")).showQuarantined),
  loading(QUARANTINE_REPLAY, async () => (await import("./remote/quarantine.ts")).replayQuarantined),
  loading(QUARANTINE_DELETE, async () => (await import("./remote/quarantine.ts")).deleteQuarantined),
  loading(DEVICES_LIST, async () => (await import("./devices/list.ts")).listDevices),
  loading(DEVICES_SET, async () => (await import("./devices/set.ts")).setDevice),
  loading(GEOFENCES_LIST, async () => (await import("./geofences/list.ts")).listGeofences),
  loading(GEOFENCES_IMPORT, async () => (await import("./geofences/import.ts")).importGeofences),
  loading(GEOFENCES_EXPORT, async () => (await import("./geofences/list.ts")).exportGeofences),
  loading(WEBHOOKS_LIST, async () => (await import("./remote/webhooks.ts")).listWebhooks),
  loading(WEBHOOKS_TEST, async () => (await import("./remote/webhooks.ts")).testWebhook),
  loading(WEBHOOKS_REDELIVER, async () => (await import("./remote/webhooks.ts")).redeliverWebhook),
  loading(CORRECTIONS_LIST, async () => (await import("./corrections/list.ts")).listCorrections),
  loading(CORRECTIONS_HIDE, async () => (await import("./corrections/change.ts")).makeCorrection),
  loading(CORRECTIONS_MOVE, async () => (await import("./corrections/change.ts")).makeCorrection),
  loading(CORRECTIONS_SHIFT, async () => (await import("./corrections/change.ts")).makeCorrection),
  loading(CORRECTIONS_ASSIGN, async () => (await import("./corrections/change.ts")).makeCorrection),
  loading(CORRECTIONS_UNDO, async () => (await import("./corrections/change.ts")).undoCorrection),
  loading(IMPORT, async () => (await import("./import/run.ts")).importFiles),
  loading(EXPORT, async () => (await import("./export/run.ts")).exportRecords),
  loading(ERASE, async () => (await import("./erase/run.ts")).erase),
  loading(MAP_FETCH, async () => (await import("./map/fetch.ts")).fetchMap),
  loading(DOCTOR, async () => (await import("./remote/doctor.ts")).doctor),
  loading(SETTINGS_LIST, async () => (await import("./directory/settings.ts")).listSettings),
  loading(SETTINGS_SET, async () => (await import("./directory/settings.ts")).setSettings),
  loading(SEAL, async () => (await import("./directory/seal.ts")).seal),
  loading(BACKUP, async () => (await import("./directory/backup.ts")).backup),
  loading(RESTORE, async () => (await import("./directory/backup.ts")).restore),
  loading(JOIN, async () => (await import("./cluster/join.ts")).join),
  loading(VERIFY, async () => (await import("./directory/verify.ts")).verify),
  loading(CLUSTER_INIT, async () => (await import("./cluster/init.ts")).clusterInit),
  loading(CLUSTER_NODES, async () => (await import("./cluster/nodes.ts")).listNodes),
];

/** Commands whose two-word names share the first word, which is the group's name. */
export interface CommandGroup {
  readonly name: string;
  /** A paragraph for the group's help; may be empty. */
  readonly about: string;
  /** The command that the group's help uses as an example of `--help`. */
  readonly example: string;
}

const GROUPS: readonly CommandGroup[] = [
  {
    name: "keys",
    about: "Changes take effect on a running server within 2 seconds.",
    example: KEYS_CREATE.name,
  },
  {
    name: "settings",
    about: "Settings belong to the data directory. Changes take effect on a running server within 2 seconds.",
    example: SETTINGS_SET.name,
  },
  {
    name: "devices",
    about: "A profile has a name, a color, an icon, tags and metadata.",
    example: DEVICES_SET.name,
  },
  {
    name: "corrections",
    about: "A correction changes what answers show, and can be undone.",
    example: CORRECTIONS_HIDE.name,
  },
  {
    name: "geofences",
    about: "A geofence is an area of an app, which devices enter and leave.",
    example: GEOFENCES_IMPORT.name,
  },
  {
    name: "webhooks",
    about: "A webhook sends the events of geofences and alerts to a URL.",
    example: WEBHOOKS_REDELIVER.name,
  },
  { name: "cluster", about: "", example: CLUSTER_INIT.name },
  { name: "map", about: "", example: MAP_FETCH.name },
  {
    name: "quarantine",
    about: "A server keeps the messages that it rejected, for 90 days at most.",
    example: QUARANTINE_LIST.name,
  },
];

export function findCommand(name: string): Command | null {
  return COMMANDS.find((command) => command.name === name) ?? null;
}

export function findGroup(name: string): CommandGroup | null {
  return GROUPS.find((group) => group.name === name) ?? null;
}

export function commandsOf(group: string): readonly Command[] {
  return COMMANDS.filter(({ name }) => name.startsWith(`${group} `));
}
