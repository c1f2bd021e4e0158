import { LABEL_CHARACTERS_MAX, PERMISSIONS, type Permission, parseLabel } from "../../auth/key-file.ts";
import { LINK_CODE_MINUTES } from "../../auth/link-codes.ts";
import { TIER_NAMES } from "../../auth/tiers.ts";
import { CLIENT_NAMES } from "../../clients/client.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import {
  type CommandInput,
  defineCommand,
  definePlainCommand,
  oneArgument,
  type PlainOptions,
} from "../arguments/command.ts";
import type { FlagRows, FlagValues } from "../arguments/flag-row.ts";
import { APP, CLIENT, DEVICE, oneOf, SERVER_URL, USER, type ValueKind } from "../arguments/value-kinds.ts";
import { ENDING, isAboutView, parseView, type RequestedView, VIEW_FLAGS } from "./view-flags.ts";

/* The commands on the keys of a data directory. */

const PERMISSION = oneOf("NAME", PERMISSIONS);

const TIER = oneOf("TIER", TIER_NAMES);

const LABEL: ValueKind<string> = {
  placeholder: "TEXT",
  parse(text, name) {
    const label = parseLabel(text);
    const rule = `must have at most ${LABEL_CHARACTERS_MAX} characters, none of them a control character`;
    return label === null ? fail(`${name} ${rule}`) : ok(label);
  },
};

const CREATE_FLAGS = {
  appId: { name: "app", takes: APP, required: true, does: "the app that the key belongs to" },
  permissions: {
    name: "permission",
    takes: PERMISSION,
    repeats: true,
    otherwise: "write with --for",
    does: "what the key may do",
  },
  client: {
    name: "for",
    takes: CLIENT,
    does: "print how to set up this app to report",
  },
  serverUrl: {
    name: "url",
    takes: SERVER_URL,
    goesWith: "for",
    otherwise: "https://YOUR-HOST",
    does: "the server as the app reaches it",
  },
  deviceId: {
    name: "device",
    takes: DEVICE,
    otherwise: "any",
    does: "the only device that the key may report as",
  },
  userId: { name: "user", takes: USER, otherwise: "any", does: "the only user that the key may report as" },
  tier: { name: "tier", takes: TIER, default: "standard", does: "the rate limit of the key" },
  label: {
    name: "label",
    takes: LABEL,
    default: "",
    otherwise: "none",
    does: "what the key is for, shown by keys list",
  },
  ends: {
    name: "expires",
    takes: ENDING,
    otherwise: "never",
    does: "lifetime from now (90m, 12h, 30d, 2w), or an instant: 2026-04-01T18:00+02:00",
  },
  ...VIEW_FLAGS,
} as const satisfies FlagRows;

export const KEYS_CREATE = defineCommand({
  name: "keys create",
  takes: "",
  summary: "create an API key",
  flags: CREATE_FLAGS,
  help: {
    ways: [
      "--app APP --permission NAME...",
      "--app APP --for CLIENT --url URL",
      "--app APP --permission view --show-device DEVICE...",
    ],
    before: `Prints only the key on standard output. The server stores its hash, so the key can't be shown again.

--for creates a key that may only write, and prints on standard error what to type into the app: with a QR
code on a wide terminal if the app reads one, otherwise with a link. Such a key is on a phone and often in a
URL, so bind it with --device and --user: then it can report only as that device and user. The apps are
${CLIENT_NAMES.join(", ")}.`,
    after: `A binding limits writing only: a bound key that may also read sees all devices of its app.

A key with the permission view is for a share link. It shows the positions of the named devices from the
instant of --not-before until the key expires, and nothing else of its app: no users, no phones. --precision
500 rounds positions to cells 500 m wide, and times to minutes. An exact link reveals where people live.`,
    example: (
      program,
    ) => `KEY=$(${program} keys create --app shop --permission read --permission write --expires 30d)
  ${program} keys create --app shop --for owntracks --device pixel7 --url https://example.org
  ${program} keys create --app shop --permission view --show-device van --expires 12h`,
  },
  parse: parseCreate,
});

type CreateValues = FlagValues<typeof CREATE_FLAGS>;

export interface KeysCreateOptions extends Omit<CreateValues, keyof typeof VIEW_FLAGS> {
  readonly dataDir: string;
  /** What a share link shows; null for other keys. */
  readonly view: RequestedView | null;
}

function parseCreate({
  values,
  dataDir,
}: CommandInput<typeof CREATE_FLAGS>): Result<KeysCreateOptions, string> {
  const permissions = permissionsOf(values);
  if (!permissions.ok) return permissions;
  const { shownDevices, notBeforeMs, precisionMeters, ...others } = values;
  const command = { dataDir, ...others, permissions: permissions.value } as const;
  if (!permissions.value.includes("view")) return ok({ ...command, view: null });
  const view = parseView({ shownDevices, notBeforeMs, precisionMeters }, values.ends);
  return view.ok ? ok({ ...command, view: view.value }) : view;
}

/** Permissions that are about all of an app. */
const OF_WHOLE_APP: readonly Permission[] = ["edit", "manage", "erase"];

function permissionsOf(values: CreateValues): Result<readonly Permission[], string> {
  const { permissions, client, deviceId, userId } = values;
  const isView = permissions.includes("view");
  if (isView && permissions.some((permission) => permission !== "view"))
    return fail("--permission view can't be combined with another permission");
  if (isView && (client !== null || deviceId !== null || userId !== null))
    return fail(
      "--for, --device and --user are for keys that report: a share link shows devices with --show-device",
    );
  if (!isView && isAboutView(values))
    return fail("--show-device, --not-before and --precision are for share links: add --permission view");
  const ofWholeApp = permissions.find((permission) => OF_WHOLE_APP.includes(permission));
  if (ofWholeApp !== undefined && (deviceId !== null || userId !== null))
    return fail(`--permission ${ofWholeApp} does not go with --device and --user: it is about the whole app`);
  if (permissions.length === 0) {
    return client === null
      ? fail(`keys create needs --permission: ${PERMISSIONS.join(", ")}`)
      : ok(["write"]);
  }
  if (!permissions.includes("write")) {
    if (client !== null) return fail("--for creates a key that reports: add --permission write");
    if (deviceId !== null || userId !== null)
      return fail("--device and --user are for keys that report: add --permission write");
  }
  return ok(PERMISSIONS.filter((permission) => permissions.includes(permission)));
}

const LIST_FLAGS = {
  json: { name: "json", does: "print JSON, with times in Unix milliseconds" },
} as const satisfies FlagRows;

export const KEYS_LIST = definePlainCommand({
  name: "keys list",
  takes: "",
  summary: "list the keys",
  flags: LIST_FLAGS,
  help: {
    before: `Lists every key, revoked and expired ones too, by its id and last four characters.`,
  },
});

export type KeysListOptions = PlainOptions<typeof LIST_FLAGS>;

const LINK_FLAGS = {
  serverUrl: {
    name: "url",
    takes: SERVER_URL,
    otherwise: "the address of the directory's server",
    does: "the running server, as the browser reaches it",
  },
} as const satisfies FlagRows;

export const KEYS_LINK = defineCommand({
  name: "keys link",
  takes: "[ID]",
  summary: "print a link that signs in on the map once",
  flags: LINK_FLAGS,
  help: {
    before: `Prints an address of the map that signs in as a key, once, within ${LINK_CODE_MINUTES} minutes. Without an id it uses
the first unbound key that may read. The server has to run already: a restart ends all links. The first person
to open the link is signed in, so send it only over a private channel.`,
    example: (program) => `${program} keys link
  ${program} keys link --url http://192.168.1.20:3000
  ${program} keys link k_4fTz81Qa --url https://map.example.org`,
  },
  parse: parseLink,
});

export interface KeysLinkOptions extends FlagValues<typeof LINK_FLAGS> {
  readonly dataDir: string;
  /** Null lets the command choose the key. */
  readonly id: string | null;
}

function parseLink({
  values,
  dataDir,
  positionals,
}: CommandInput<typeof LINK_FLAGS>): Result<KeysLinkOptions, string> {
  if (positionals.length === 0) return ok({ dataDir, id: null, ...values });
  const id = oneId(positionals, "keys link");
  return id.ok ? ok({ dataDir, id: id.value, ...values }) : id;
}

const REVOKE_FLAGS = {
  withWebhooks: { name: "with-webhooks", does: "disable the webhooks that the key made, too" },
} as const satisfies FlagRows;

export const KEYS_REVOKE = defineCommand({
  name: "keys revoke",
  takes: "ID",
  summary: "revoke a key",
  flags: REVOKE_FLAGS,
  help: {
    before: `Revokes a key for good. A running server rejects it within 2 seconds. Webhooks that the key made go on, unless
--with-webhooks ends them; without it, the command lists them.`,
    example: (program) => `${program} keys revoke k_4fTz81Qa`,
  },
  parse: parseRevoke,
});

export interface KeysRevokeOptions {
  readonly dataDir: string;
  readonly id: string;
  readonly withWebhooks: boolean;
}

function parseRevoke({
  values: { withWebhooks },
  dataDir,
  positionals,
}: CommandInput<typeof REVOKE_FLAGS>): Result<KeysRevokeOptions, string> {
  const id = oneId(positionals, "keys revoke");
  return id.ok ? ok({ dataDir, id: id.value, withWebhooks }) : id;
}

const PASS_PHRASE_FLAGS = {
  deviceId: {
    name: "device",
    takes: DEVICE,
    otherwise: "all devices of the key",
    does: "the device that encrypts, as answers show it or without its user",
  },
  remove: { name: "remove", does: "remove the passphrase: its messages are no longer decrypted" },
} as const satisfies FlagRows;

export const KEYS_PASS_PHRASE = defineCommand({
  name: "keys passphrase",
  takes: "ID",
  summary: "set a phone's passphrase",
  flags: PASS_PHRASE_FLAGS,
  help: {
    before: `Reads the passphrase that is typed into OwnTracks ("encryption key") from a prompt or standard input. The
server decrypts messages of the key's devices, or of that device, with it from then on. It is stored in
plain text in the file pass-phrases.json in the data directory, mode 0600; a running server uses it within 2
seconds. Messages of an MQTT broker are decrypted with the passphrases of all keys of its app. The app uses
the first 32 bytes.`,
    example: (program) => `${program} keys passphrase k_4fTz81Qa --device pixel7 < phrase`,
  },
  parse: parsePassPhrase,
});

export interface KeysPassPhraseOptions extends FlagValues<typeof PASS_PHRASE_FLAGS> {
  readonly dataDir: string;
  readonly id: string;
}

function parsePassPhrase({
  values,
  dataDir,
  positionals,
}: CommandInput<typeof PASS_PHRASE_FLAGS>): Result<KeysPassPhraseOptions, string> {
  // The error does not repeat what was typed: it may be the phrase.
  if (positionals.length > 1) return fail("keys passphrase takes one id, and prompts for the passphrase");
  const id = oneId(positionals, "keys passphrase");
  return id.ok ? ok({ dataDir, id: id.value, ...values }) : id;
}

function oneId(positionals: readonly string[], command: string): Result<string, string> {
  const needs = "the id of a key, as keys list shows it";
  return oneArgument(positionals, command, { needs, takes: "one id" });
}
