import { DEFAULT_SERVER_URL } from "../../app/config.ts";
import { REFUSAL_REASONS } from "../../clients/point.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { AppId } from "../../model/ids.ts";
import { type CommandInput, defineCommand, oneArgument } from "../arguments/command.ts";
import type { FlagRows, FlagValues } from "../arguments/flag-row.ts";
import { APP, CLIENT, DEVICE, KEY, oneOf, SERVER_URL } from "../arguments/value-kinds.ts";
import { SERVE_FLAGS } from "../serve/flags.ts";
import type { InstallOptions } from "./installation.ts";

/* The commands that query a running server: `doctor`, and those about its quarantine. */

const REASON = oneOf("REASON", REFUSAL_REASONS);

const OWN_SERVER = `the server of the directory, else ${DEFAULT_SERVER_URL}`;

/** The flags of commands that change the quarantine of a running server. */
const SERVER_FLAGS = {
  url: { name: "url", takes: SERVER_URL, otherwise: OWN_SERVER, does: "a running server" },
  key: {
    name: "key",
    takes: KEY,
    variable: "WHEREHOUSE_KEY",
    does: "an unbound key of that server that may read and write",
  },
} as const satisfies FlagRows;

/** The flags of commands that read from a running server. */
const READ_FLAGS = {
  url: {
    name: "url",
    takes: SERVER_URL,
    otherwise: `${OWN_SERVER} with a key`,
    does: "a running server, as phones reach it",
  },
  key: {
    name: "key",
    takes: KEY,
    variable: "WHEREHOUSE_KEY",
    does: "a key of that server that may read; not needed for the server of the directory",
  },
  appId: { name: "app", takes: APP, otherwise: "all", does: "only this app of the directory, without a key" },
} as const satisfies FlagRows;

const ENTRY_FLAGS = {
  client: { name: "client", takes: CLIENT, otherwise: "all", does: "only messages from this app" },
  reason: { name: "reason", takes: REASON, otherwise: "all", does: "only messages rejected for this reason" },
  deviceId: {
    name: "device",
    takes: DEVICE,
    otherwise: "all",
    does: "only messages of this device, as the list names it",
  },
} as const satisfies FlagRows;

const ALL_FLAG = { name: "all", does: "all entries that match the other options" } as const;

const DOCTOR_FLAGS = {
  ...READ_FLAGS,
  deviceId: { name: "device", takes: DEVICE, otherwise: "all", does: "only this device" },
  json: { name: "json", does: "print the findings as JSON" },
  ready: { name: "ready", does: "only ask whether every acknowledged record can be queried; needs no key" },
  install: { name: "install", does: "only check this machine, whether or not a server runs; needs no key" },
  port: { ...SERVE_FLAGS.port, goesWith: "install", does: "the port that the server will use" },
  hostname: {
    ...SERVE_FLAGS.hostname,
    goesWith: "install",
    does: "the name or address that the server will listen on",
  },
} as const satisfies FlagRows;

export const DOCTOR = defineCommand({
  name: "doctor",
  takes: "",
  summary: "diagnose devices that report wrongly",
  flags: DOCTOR_FLAGS,
  help: {
    ways: ["", "--url URL --key KEY", "--ready", "--install"],
    before: `\
Asks a running server which devices of an app have a problem: a wrong clock, speeds in another unit, repeated
reports, mostly rejected points, a much longer silence than usual. Each finding gives its evidence and the
remedy. The server examines the reports that arrived since it started. Without --key the command asks the
server of the data directory about all of its apps; with --key it asks about the app of the key.

It also requests the address as a phone would, without a key, since a proxy in front of the server must not
redirect phones. If the address has https, it requests http of the same host too.

--install checks what a server needs of this machine: open files, disk, clock, time zones, port, and the owner
of the data directory. It sends nothing to other hosts.`,
    after: `Exit code 1 if there are findings, or if the server can't be reached.`,
    example: (program) => `${program} doctor --url https://example.org`,
  },
  parse: parseDoctor,
});

export interface DoctorOptions {
  readonly choice: ServerChoice;
  /** Null asks about all devices. */
  readonly deviceId: string | null;
  readonly json: boolean;
}

/** A server to ask without a key. A null URL means the directory's server, or else the default address. */
export interface ReadyOptions {
  readonly url: string | null;
  readonly dataDir: string;
}

export type DoctorCommand =
  | ({ readonly about: "devices" } & DoctorOptions)
  | ({ readonly about: "ready" } & ReadyOptions)
  | ({ readonly about: "install" } & InstallOptions);

function parseDoctor({ values, dataDir }: CommandInput<typeof DOCTOR_FLAGS>): Result<DoctorCommand, string> {
  const { deviceId, json, ready, install, hostname, port, ...server } = values;
  if (install) return ok({ about: "install", dataDir, hostname, port });
  if (ready) return ok({ about: "ready", url: server.url, dataDir });
  const choice = parseServerChoice("doctor", server, dataDir);
  return choice.ok ? ok({ about: "devices", choice: choice.value, deviceId, json }) : choice;
}

/** Which server a command queries. */
export type ServerChoice =
  /** The server at the URL, with a key. A null URL means the directory's server, or else the default address. */
  | { readonly kind: "keyed"; readonly url: string | null; readonly key: string; readonly dataDir: string }
  /** The server that runs over the directory; a null app means all of its apps. */
  | { readonly kind: "own"; readonly dataDir: string; readonly appId: AppId | null };

function parseServerChoice(
  command: string,
  { url, key, appId }: FlagValues<typeof READ_FLAGS>,
  dataDir: string,
): Result<ServerChoice, string> {
  if (key !== null)
    return appId === null
      ? ok({ kind: "keyed", url, key, dataDir })
      : fail("--app does not go with --key or WHEREHOUSE_KEY: a key belongs to one app");
  return url === null
    ? ok({ kind: "own", dataDir, appId })
    : fail(`${command} --url needs --key, or the key in WHEREHOUSE_KEY`);
}

const LIST_FLAGS = {
  ...READ_FLAGS,
  ...ENTRY_FLAGS,
  json: { name: "json", does: "print JSON, with times in Unix milliseconds" },
} as const satisfies FlagRows;

export const QUARANTINE_LIST = defineCommand({
  name: "quarantine list",
  takes: "",
  summary: "list rejected messages",
  flags: LIST_FLAGS,
  help: {
    before: `Lists the messages, and single points of messages, that the server could not use, newest first. Copies of a
message from the same key are one entry with a count. Without --key the command asks the server of the data
directory about all of its apps; with --key, or WHEREHOUSE_KEY, it asks about the app of the key.`,
    example: (program) => `${program} quarantine list --reason future
  ${program} quarantine list --url https://example.org`,
  },
  parse: parseList,
});

export interface QuarantineListOptions extends Omit<FlagValues<typeof LIST_FLAGS>, "url" | "key" | "appId"> {
  readonly choice: ServerChoice;
}

function parseList({
  values,
  dataDir,
}: CommandInput<typeof LIST_FLAGS>): Result<QuarantineListOptions, string> {
  const { url, key, appId, ...others } = values;
  const choice = parseServerChoice("quarantine list", { url, key, appId }, dataDir);
  return choice.ok ? ok({ choice: choice.value, ...others }) : choice;
}

const SHOW_FLAGS = {
  ...READ_FLAGS,
  json: { name: "json", does: "print the whole entry as JSON" },
} as const satisfies FlagRows;

export const QUARANTINE_SHOW = defineCommand({
  name: "quarantine show",
  takes: "ID",
  summary: "show one rejected message with its body",
  flags: SHOW_FLAGS,
  help: {
    before: `Prints the body on standard output and the rest on standard error. Control characters are shown as U+FFFD;
--json prints the message unchanged.`,
  },
  parse: parseShow,
});

export interface QuarantineShowOptions {
  readonly choice: ServerChoice;
  readonly id: string;
  readonly json: boolean;
}

function parseShow({
  values,
  dataDir,
  positionals,
}: CommandInput<typeof SHOW_FLAGS>): Result<QuarantineShowOptions, string> {
  const { json, ...server } = values;
  const needs = "the id of an entry, as quarantine list shows it";
  const id = oneArgument(positionals, "quarantine show", { needs, takes: "one id" });
  if (!id.ok) return id;
  const choice = parseServerChoice("quarantine show", server, dataDir);
  return choice.ok ? ok({ choice: choice.value, id: id.value, json }) : choice;
}

const CHANGE_FLAGS = { ...SERVER_FLAGS, ...ENTRY_FLAGS, all: ALL_FLAG } as const satisfies FlagRows;

export const QUARANTINE_REPLAY = defineCommand({
  name: "quarantine replay",
  takes: "ID...",
  summary: "process rejected messages again",
  flags: CHANGE_FLAGS,
  help: {
    before: `Processes entries again, or with --all every one, as if they had just arrived; their points keep their own
times. An entry is removed once its points are on disk, and stays if it still can't be used.`,
    after: "Exit code 1 if an entry stays, or if the server can't be reached.",
    example: (program) => `${program} quarantine replay --all --reason undecryptable`,
  },
  parse: parserOfChange("quarantine replay"),
});

export const QUARANTINE_DELETE = defineCommand({
  name: "quarantine delete",
  takes: "ID...",
  summary: "delete rejected messages",
  flags: CHANGE_FLAGS,
  help: {
    before: "Deletes entries for good, or with --all every one that matches the other options.",
    example: (program) => `${program} quarantine delete --all --device pixel7`,
  },
  parse: parserOfChange("quarantine delete"),
});

export interface QuarantineChangeOptions extends Omit<FlagValues<typeof CHANGE_FLAGS>, "key" | "all"> {
  readonly dataDir: string;
  readonly key: string;
  /** Null chooses all entries that match the filters. */
  readonly ids: readonly string[] | null;
}

function parserOfChange(command: string) {
  return ({
    values,
    dataDir,
    positionals: ids,
  }: CommandInput<typeof CHANGE_FLAGS>): Result<QuarantineChangeOptions, string> => {
    const { key, all, ...others } = values;
    const isFiltered = others.client !== null || others.reason !== null || others.deviceId !== null;
    if (all && ids.length > 0) return fail(`${command} takes ids or --all, not both`);
    if (!all && ids.length === 0)
      return fail(`${command} needs ids, as quarantine list shows them, or --all`);
    if (isFiltered && !all) return fail("--client, --reason and --device need --all");
    if (key === null) return fail(`${command} needs --key, or the key in WHEREHOUSE_KEY`);
    return ok({ dataDir, key, ids: all ? null : ids, ...others });
  };
}
