import { PERMISSIONS, type Permission } from "../../auth/permissions.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { oneArgument } from "../arguments/positionals.ts";
import type { ValuesOf } from "../commands.ts";
import { type AskedView, isAboutView, parseView, type VIEW_FLAGS } from "./view-flags.ts";

/** Without an end, a key is for ever. */
export interface KeysCreateCommand extends Omit<ValuesOf<"keys create">, keyof typeof VIEW_FLAGS> {
  readonly kind: "keys create";
  readonly dataDir: string;
  /** What a share link shows; null for other keys. */
  readonly view: AskedView | null;
}

export interface KeysRevokeCommand {
  readonly kind: "keys revoke";
  readonly dataDir: string;
  readonly id: string;
}

export function parseKeysCreate(
  values: ValuesOf<"keys create">,
  dataDir: string,
): Result<KeysCreateCommand, string> {
  const permissions = permissionsOf(values);
  if (!permissions.ok) return permissions;
  const { shownDevices, notBeforeMs, precisionMeters, ...others } = values;
  const command = { kind: "keys create", dataDir, ...others, permissions: permissions.value } as const;
  if (!permissions.value.includes("view")) return ok({ ...command, view: null });
  const view = parseView({ shownDevices, notBeforeMs, precisionMeters }, values.ends);
  return view.ok ? ok({ ...command, view: view.value }) : view;
}

function permissionsOf(values: ValuesOf<"keys create">): Result<readonly Permission[], string> {
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

export interface KeysPassPhraseCommand extends ValuesOf<"keys passphrase"> {
  readonly kind: "keys passphrase";
  readonly dataDir: string;
  readonly id: string;
}

export function parseKeysRevoke(
  _values: ValuesOf<"keys revoke">,
  dataDir: string,
  positionals: readonly string[],
): Result<KeysRevokeCommand, string> {
  const id = oneId(positionals, "keys revoke");
  return id.ok ? ok({ kind: "keys revoke", dataDir, id: id.value }) : id;
}

export function parseKeysPassPhrase(
  values: ValuesOf<"keys passphrase">,
  dataDir: string,
  positionals: readonly string[],
): Result<KeysPassPhraseCommand, string> {
  // Whatever was typed there is not repeated: it may be the phrase.
  if (positionals.length > 1)
    return fail("keys passphrase takes one id, and asks for the pass phrase itself");
  const id = oneId(positionals, "keys passphrase");
  return id.ok ? ok({ kind: "keys passphrase", dataDir, id: id.value, ...values }) : id;
}

/** Null where the key is left to us. */
export interface KeysLinkCommand extends ValuesOf<"keys link"> {
  readonly kind: "keys link";
  readonly dataDir: string;
  readonly id: string | null;
}

export function parseKeysLink(
  values: ValuesOf<"keys link">,
  dataDir: string,
  positionals: readonly string[],
): Result<KeysLinkCommand, string> {
  if (positionals.length === 0) return ok({ kind: "keys link", dataDir, id: null, ...values });
  const id = oneId(positionals, "keys link");
  return id.ok ? ok({ kind: "keys link", dataDir, id: id.value, ...values }) : id;
}

function oneId(positionals: readonly string[], command: string): Result<string, string> {
  const needs = "the id of a key, as keys list shows it";
  return oneArgument(positionals, command, { needs, takes: "one id" });
}
