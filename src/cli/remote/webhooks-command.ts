import { DEFAULT_SERVER_URL } from "../../app/config.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { type CommandInput, defineCommand, oneArgument } from "../arguments/command.ts";
import type { FlagRows, FlagValues } from "../arguments/flag-row.ts";
import { KEY, ruled, SERVER_URL } from "../arguments/value-kinds.ts";
import { TIME } from "../corrections/make-command.ts";

/* The commands about the webhooks of a running server. */

const SERVER_FLAGS = {
  url: {
    name: "url",
    takes: SERVER_URL,
    otherwise: `the server of the directory, else ${DEFAULT_SERVER_URL}`,
    does: "a running server",
  },
  key: {
    name: "key",
    takes: KEY,
    variable: "WHEREHOUSE_KEY",
    does: "a key of that server that may manage and read",
  },
} as const satisfies FlagRows;

/** A server, and the key to ask it with. */
export interface WebhooksServer {
  /** Null means the directory's server, or else the default address. */
  readonly url: string | null;
  readonly key: string;
  readonly dataDir: string;
}

function parseServer(
  command: string,
  { url, key }: FlagValues<typeof SERVER_FLAGS>,
  dataDir: string,
): Result<WebhooksServer, string> {
  return key === null
    ? fail(`${command} needs --key, or the key in WHEREHOUSE_KEY`)
    : ok({ url, key, dataDir });
}

const LIST_FLAGS = {
  ...SERVER_FLAGS,
  json: { name: "json", does: "print JSON" },
} as const satisfies FlagRows;

export const WEBHOOKS_LIST = defineCommand({
  name: "webhooks list",
  takes: "",
  summary: "list the webhooks of an app",
  flags: LIST_FLAGS,
  help: {
    before:
      "Lists the webhooks of the key's app, with their states. Of a URL it shows the host alone; --json shows all.",
    example: (program) => `${program} webhooks list`,
  },
  parse({ values, dataDir }: CommandInput<typeof LIST_FLAGS>): Result<WebhooksListOptions, string> {
    const server = parseServer("webhooks list", values, dataDir);
    return server.ok ? ok({ server: server.value, json: values.json }) : server;
  },
});

export interface WebhooksListOptions {
  readonly server: WebhooksServer;
  readonly json: boolean;
}

export const WEBHOOKS_TEST = defineCommand({
  name: "webhooks test",
  takes: "ID",
  summary: "send a test to a webhook",
  flags: SERVER_FLAGS,
  help: {
    before:
      "Sends a signed request of the type test, also if the webhook is paused, and says what came of it.",
    after: "Exit code 1 if the receiver did not take it.",
  },
  parse({ values, dataDir, positionals }: CommandInput<typeof SERVER_FLAGS>): Result<WebhookOptions, string> {
    return parseOne("webhooks test", values, dataDir, positionals);
  },
});

export interface WebhookOptions {
  readonly server: WebhooksServer;
  readonly id: string;
}

function parseOne(
  command: string,
  values: FlagValues<typeof SERVER_FLAGS>,
  dataDir: string,
  positionals: readonly string[],
): Result<WebhookOptions, string> {
  const needs = "the id of a webhook, as webhooks list shows it";
  const id = oneArgument(positionals, command, { needs, takes: "one id" });
  if (!id.ok) return id;
  const server = parseServer(command, values, dataDir);
  return server.ok ? ok({ server: server.value, id: id.value }) : server;
}

const REDELIVER_FLAGS = {
  ...SERVER_FLAGS,
  eventId: {
    name: "event",
    takes: ruled("EVENT", "not be empty", (text) => (text === "" ? null : text)),
    does: "one event, which is sent at once",
  },
  sinceMs: { name: "since", takes: TIME, does: "all that was made at this time or later" },
} as const satisfies FlagRows;

export const WEBHOOKS_REDELIVER = defineCommand({
  name: "webhooks redeliver",
  takes: "ID",
  summary: "send events to a webhook again",
  flags: REDELIVER_FLAGS,
  help: {
    ways: ["ID --event EVENT", "ID --since TIME"],
    before:
      "Sends one event again, or all since a time, in their order. They may arrive behind what came later.",
    after: "Exit code 1 if the receiver did not take the event.",
    example: (program) =>
      `${program} webhooks redeliver 01KDTV3GZ8W3M5T7V9X1Z3B5D8 --since 2026-11-20T00:00:00Z`,
  },
  parse({
    values: { eventId, sinceMs, ...values },
    dataDir,
    positionals,
  }: CommandInput<typeof REDELIVER_FLAGS>): Result<WebhooksRedeliverOptions, string> {
    const one = parseOne("webhooks redeliver", values, dataDir, positionals);
    if (!one.ok) return one;
    if ((eventId === null) === (sinceMs === null))
      return fail("webhooks redeliver needs either --event or --since");
    return ok({ ...one.value, eventId, sinceMs });
  },
});

export interface WebhooksRedeliverOptions extends WebhookOptions {
  /** One of the two is null. */
  readonly eventId: string | null;
  readonly sinceMs: number | null;
}
