import { DEFAULT_SERVER_URL } from "../../app/config.ts";
import { REFUSAL_REASONS } from "../../clients/point.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { AppId } from "../../model/ids.ts";
import { defineCommand, type Given, oneArgument } from "../arguments/command.ts";
import type { FlagRows, FlagValues } from "../arguments/flag-row.ts";
import { APP, CLIENT, DEVICE, KEY, oneOf, SERVER_URL } from "../arguments/value-kinds.ts";

/*
 * The commands that ask a running server: `doctor`, and those about its quarantine.
 */

const REASON = oneOf("REASON", REFUSAL_REASONS);

const OWN_SERVER = `the server of the directory, else ${DEFAULT_SERVER_URL}`;

/** The flags of commands that change the quarantine of a running server. */
const SERVER_FLAGS = {
  url: { name: "url", takes: SERVER_URL, otherwise: OWN_SERVER, does: "a running server" },
  key: {
    name: "key",
    takes: KEY,
    variable: "WHEREHOUSE_KEY",
    does: "a key of it that may read and write and is not bound",
  },
} as const satisfies FlagRows;

/** The flags of commands that ask a running server and change nothing. */
const ASKED_FLAGS = {
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
    does: "a key of it that may read; beside the server of the directory none is needed",
  },
  appId: { name: "app", takes: APP, otherwise: "all", does: "only this app of the directory, without a key" },
} as const satisfies FlagRows;

const ENTRY_FLAGS = {
  client: { name: "client", takes: CLIENT, otherwise: "all", does: "only what this app sent" },
  reason: { name: "reason", takes: REASON, otherwise: "all", does: "only what was refused for this reason" },
  deviceId: {
    name: "device",
    takes: DEVICE,
    otherwise: "all",
    does: "only what is this device's, as the list names it",
  },
} as const satisfies FlagRows;

const ALL_FLAG = { name: "all", does: "all entries, or all that the other options let through" } as const;

const DOCTOR_FLAGS = {
  ...ASKED_FLAGS,
  deviceId: { name: "device", takes: DEVICE, otherwise: "all", does: "the one device that is asked about" },
  json: { name: "json", does: "what was found as JSON" },
} as const satisfies FlagRows;

export const DOCTOR = defineCommand({
  name: "doctor",
  takes: "",
  summary: "say what is wrong with devices, and what helps",
  flags: DOCTOR_FLAGS,
  help: {
    ways: ["", "--url URL --key KEY"],
    before: `\
Asks a running server what is wrong with the devices of an app: whose clock is off, whose speeds are in
another unit, who repeats itself, whose points are mostly refused, who is silent for much longer than usual.
Each finding says what shows it and what helps. The server looks at what came since it started. Without --key
the server is asked that runs over the directory, about all of its apps; with --key it is about the key's app.

It also asks the address as a phone would, without a key: what stands before the server must not redirect
what phones send. Where the address has https, http of the same host is asked too.`,
    after: `Exit code 1 if anything was found, or if the server can't be asked.`,
    example: (program) => `${program} doctor --url https://example.org`,
  },
  parse: parseDoctor,
});

/** Which server is asked, and about which devices. */
export interface DoctorOptions {
  readonly choice: ServerChoice;
  /** Null asks about all devices. */
  readonly deviceId: string | null;
  readonly json: boolean;
}

function parseDoctor({ values, dataDir }: Given<typeof DOCTOR_FLAGS>): Result<DoctorOptions, string> {
  const { deviceId, json, ...server } = values;
  const choice = parseServerChoice("doctor", server, dataDir);
  return choice.ok ? ok({ choice: choice.value, deviceId, json }) : choice;
}

/** Which server a command asks. */
export type ServerChoice =
  /** A server that is asked with a key. Without a URL it is the directory's, or else the default one. */
  | { readonly kind: "keyed"; readonly url: string | null; readonly key: string; readonly dataDir: string }
  /** The server that runs over the directory, about one of its apps; null asks about all of them. */
  | { readonly kind: "own"; readonly dataDir: string; readonly appId: AppId | null };

/** Parses the flags that name a server. */
function parseServerChoice(
  command: string,
  { url, key, appId }: FlagValues<typeof ASKED_FLAGS>,
  dataDir: string,
): Result<ServerChoice, string> {
  if (key !== null)
    return appId === null
      ? ok({ kind: "keyed", url, key, dataDir })
      : fail("--app goes without --key and WHEREHOUSE_KEY: a key is one app's already");
  return url === null
    ? ok({ kind: "own", dataDir, appId })
    : fail(`${command} --url needs --key, or the key in WHEREHOUSE_KEY`);
}

const LIST_FLAGS = {
  ...ASKED_FLAGS,
  ...ENTRY_FLAGS,
  json: { name: "json", does: "as JSON, with times in Unix milliseconds" },
} as const satisfies FlagRows;

export const QUARANTINE_LIST = defineCommand({
  name: "quarantine list",
  takes: "",
  summary: "show what nobody could use",
  flags: LIST_FLAGS,
  help: {
    before: `Shows what apps sent and could not be used, the newest first: messages, or single points of them. The same
from the same key is one entry, with how often it came. Without --key the server is asked that runs over the
directory, about all of its apps; with --key, or WHEREHOUSE_KEY, it is about the key's app.`,
    example: (program) => `${program} quarantine list --reason future
  ${program} quarantine list --url https://example.org`,
  },
  parse: parseList,
});

export interface QuarantineListOptions extends Omit<FlagValues<typeof LIST_FLAGS>, "url" | "key" | "appId"> {
  readonly choice: ServerChoice;
}

function parseList({ values, dataDir }: Given<typeof LIST_FLAGS>): Result<QuarantineListOptions, string> {
  const { url, key, appId, ...others } = values;
  const choice = parseServerChoice("quarantine list", { url, key, appId }, dataDir);
  return choice.ok ? ok({ choice: choice.value, ...others }) : choice;
}

const SHOW_FLAGS = {
  ...ASKED_FLAGS,
  json: { name: "json", does: "the whole entry as JSON" },
} as const satisfies FlagRows;

export const QUARANTINE_SHOW = defineCommand({
  name: "quarantine show",
  takes: "ID",
  summary: "show one entry with what was sent",
  flags: SHOW_FLAGS,
  help: {
    before: `Prints the body on standard output and the rest on standard error. Control characters are shown as U+FFFD;
--json has all as it came.`,
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
}: Given<typeof SHOW_FLAGS>): Result<QuarantineShowOptions, string> {
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
  summary: "try entries again",
  flags: CHANGE_FLAGS,
  help: {
    before: `Tries entries again, or with --all every one, as if they had come only now, but with their own times. An
entry goes once its points are on disk; what still can't be used stays.`,
    after: "Exit code 1 if any stays, or if the server can't be asked.",
    example: (program) => `${program} quarantine replay --all --reason undecryptable`,
  },
  parse: parserOfChange("quarantine replay"),
});

export const QUARANTINE_DELETE = defineCommand({
  name: "quarantine delete",
  takes: "ID...",
  summary: "delete entries for good",
  flags: CHANGE_FLAGS,
  help: {
    before:
      "Deletes entries, or with --all every one that the other options let through. Nothing of them is kept.",
    example: (program) => `${program} quarantine delete --all --device pixel7`,
  },
  parse: parserOfChange("quarantine delete"),
});

export interface QuarantineChangeOptions extends Omit<FlagValues<typeof CHANGE_FLAGS>, "key" | "all"> {
  readonly dataDir: string;
  readonly key: string;
  /** Null chooses all entries that the filters let through. */
  readonly ids: readonly string[] | null;
}

function parserOfChange(command: string) {
  return ({
    values,
    dataDir,
    positionals: ids,
  }: Given<typeof CHANGE_FLAGS>): Result<QuarantineChangeOptions, string> => {
    const { key, all, ...others } = values;
    const isFiltered = others.client !== null || others.reason !== null || others.deviceId !== null;
    if (all && ids.length > 0) return fail(`${command} takes ids or --all, not both`);
    if (!all && ids.length === 0)
      return fail(`${command} needs ids, as quarantine list shows them, or --all`);
    if (isFiltered && !all) return fail("--client, --reason and --device say which of --all are meant");
    if (key === null) return fail(`${command} needs --key, or the key in WHEREHOUSE_KEY`);
    return ok({ dataDir, key, ids: all ? null : ids, ...others });
  };
}
