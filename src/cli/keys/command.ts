import { LABEL_CHARACTERS_MAX, PERMISSIONS, type Permission, parseLabel } from "../../auth/key-file.ts";
import { LINK_CODE_MINUTES } from "../../auth/link-codes.ts";
import { TIER_NAMES } from "../../auth/tiers.ts";
import { CLIENT_NAMES } from "../../clients/client.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import {
  defineCommand,
  definePlainCommand,
  type Given,
  oneArgument,
  type PlainOptions,
} from "../arguments/command.ts";
import type { FlagRows, FlagValues } from "../arguments/flag-row.ts";
import { APP, CLIENT, DEVICE, oneOf, SERVER_URL, USER, type ValueKind } from "../arguments/value-kinds.ts";
import { type AskedView, ENDING, isAboutView, parseView, VIEW_FLAGS } from "./view-flags.ts";

/*
 * The commands about the keys of a data directory.
 */

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
    does: "says what to type into this app, so that it reports",
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
    does: "the one device that the key may report as",
  },
  userId: { name: "user", takes: USER, otherwise: "any", does: "the one user that it may report as" },
  tier: { name: "tier", takes: TIER, default: "standard", does: "how fast the key may ask" },
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
  summary: "make an API key",
  flags: CREATE_FLAGS,
  help: {
    ways: [
      "--app APP --permission NAME...",
      "--app APP --for CLIENT --url URL",
      "--app APP --permission view --show-device DEVICE...",
    ],
    before: `Prints the key alone on standard output. Only its hash is kept, so this is the one time that it is seen.

--for makes a key that may write and no more, and says on standard error what to type into the app; a wide
terminal shows a QR code where the app reads one, others a link. Such a key is on a phone and often in a URL,
so bind it with --device and --user: it then reports as them and nobody else. The apps are
${CLIENT_NAMES.join(", ")}.`,
    after: `A binding is about writing: a bound key that may also read sees all devices of its app.

A key with the permission view is for a share link. It sees where the named devices are and were, from the
instant on that --not-before names until it expires, and nothing else of its app: no users, no phones.
--precision 500 shows cells 500 m wide and whole minutes. An exact link tells where somebody lives.`,
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
  readonly view: AskedView | null;
}

function parseCreate({ values, dataDir }: Given<typeof CREATE_FLAGS>): Result<KeysCreateOptions, string> {
  const permissions = permissionsOf(values);
  if (!permissions.ok) return permissions;
  const { shownDevices, notBeforeMs, precisionMeters, ...others } = values;
  const command = { dataDir, ...others, permissions: permissions.value } as const;
  if (!permissions.value.includes("view")) return ok({ ...command, view: null });
  const view = parseView({ shownDevices, notBeforeMs, precisionMeters }, values.ends);
  return view.ok ? ok({ ...command, view: view.value }) : view;
}

function permissionsOf(values: CreateValues): Result<readonly Permission[], string> {
  const { permissions, client, deviceId, userId } = values;
  const isView = permissions.includes("view");
  if (isView && permissions.some((permission) => permission !== "view"))
    return fail("--permission view goes with no other: a share link shows, and does nothing else");
  if (isView && (client !== null || deviceId !== null || userId !== null))
    return fail(
      "--for, --device and --user are about keys that report: --show-device says what a share link shows",
    );
  if (!isView && isAboutView(values))
    return fail("--show-device, --not-before and --precision are about share links: add --permission view");
  if (permissions.length === 0) {
    return client === null
      ? fail(`keys create needs --permission: ${PERMISSIONS.join(", ")}`)
      : ok(["write"]);
  }
  if (!permissions.includes("write")) {
    if (client !== null) return fail("--for makes a key that reports: add --permission write");
    if (deviceId !== null || userId !== null)
      return fail("--device and --user say whom a key reports as: add --permission write");
  }
  return ok(PERMISSIONS.filter((permission) => permissions.includes(permission)));
}

const LIST_FLAGS = {
  json: { name: "json", does: "as JSON, with times in Unix milliseconds" },
} as const satisfies FlagRows;

export const KEYS_LIST = definePlainCommand({
  name: "keys list",
  takes: "",
  summary: "show the keys",
  flags: LIST_FLAGS,
  help: {
    before: `Shows every key, revoked and expired ones too, by its id and last four characters.`,
  },
});

export type KeysListOptions = PlainOptions<typeof LIST_FLAGS>;

const LINK_FLAGS = {
  serverUrl: {
    name: "url",
    takes: SERVER_URL,
    otherwise: "where the server listens that has the directory",
    does: "the running server, as the browser reaches it",
  },
} as const satisfies FlagRows;

export const KEYS_LINK = defineCommand({
  name: "keys link",
  takes: "[ID]",
  summary: "print a link that signs in on the map",
  flags: LINK_FLAGS,
  help: {
    before: `Prints an address of the map that signs in as a key, once, within ${LINK_CODE_MINUTES} minutes. Without an id that is the
first key that may read and is bound to nobody. The server has to run by then: a restart ends all links.
Who opens the link first is signed in, so send it to nobody by ways that others read.`,
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
}: Given<typeof LINK_FLAGS>): Result<KeysLinkOptions, string> {
  if (positionals.length === 0) return ok({ dataDir, id: null, ...values });
  const id = oneId(positionals, "keys link");
  return id.ok ? ok({ dataDir, id: id.value, ...values }) : id;
}

export const KEYS_REVOKE = defineCommand({
  name: "keys revoke",
  takes: "ID",
  summary: "end a key",
  flags: {},
  help: {
    before: `Ends a key for good. A running server refuses it within 2 seconds. Revoking again changes nothing.`,
    example: (program) => `${program} keys revoke k_4fTz81Qa`,
  },
  parse: parseRevoke,
});

export interface KeysRevokeOptions {
  readonly dataDir: string;
  readonly id: string;
}

function parseRevoke({
  dataDir,
  positionals,
}: Pick<Given<FlagRows>, "dataDir" | "positionals">): Result<KeysRevokeOptions, string> {
  const id = oneId(positionals, "keys revoke");
  return id.ok ? ok({ dataDir, id: id.value }) : id;
}

const PASS_PHRASE_FLAGS = {
  deviceId: {
    name: "device",
    takes: DEVICE,
    otherwise: "all of the key",
    does: "the device that encrypts, as answers show it or without its user",
  },
  remove: { name: "remove", does: "forget it: nothing is opened with it any more" },
} as const satisfies FlagRows;

export const KEYS_PASS_PHRASE = defineCommand({
  name: "keys passphrase",
  takes: "ID",
  summary: "say what a phone encrypts with",
  flags: PASS_PHRASE_FLAGS,
  help: {
    before: `Reads the pass phrase that is typed into OwnTracks ("encryption key") from a prompt or standard input, and
opens with it what devices of the key, or that one, send from then on. It is kept readable in the file
pass-phrases.json in the data directory, mode 0600; a running server knows it within 2 seconds. What a broker
brings is opened with the pass phrases of all keys of its app. The app uses the first 32 bytes.`,
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
}: Given<typeof PASS_PHRASE_FLAGS>): Result<KeysPassPhraseOptions, string> {
  // The error does not repeat what was typed: it may be the phrase.
  if (positionals.length > 1)
    return fail("keys passphrase takes one id, and asks for the pass phrase itself");
  const id = oneId(positionals, "keys passphrase");
  return id.ok ? ok({ dataDir, id: id.value, ...values }) : id;
}

function oneId(positionals: readonly string[], command: string): Result<string, string> {
  const needs = "the id of a key, as keys list shows it";
  return oneArgument(positionals, command, { needs, takes: "one id" });
}
