import { PERMISSIONS, type Permission } from "../../auth/permissions.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { ValuesOf } from "./flag-table.ts";
import { noArgument, oneArgument } from "./positionals.ts";

/** A lifetime is from now on; null is for ever. */
export interface KeysCreateCommand extends ValuesOf<"keys create"> {
  readonly kind: "keys create";
  readonly dataDir: string;
}

export interface KeysRevokeCommand {
  readonly kind: "keys revoke";
  readonly dataDir: string;
  readonly id: string;
}

export function parseKeysCreate(
  values: ValuesOf<"keys create">,
  dataDir: string,
  positionals: readonly string[],
): Result<KeysCreateCommand, string> {
  const none = noArgument(positionals);
  if (!none.ok) return none;
  const permissions = permissionsOf(values);
  if (!permissions.ok) return permissions;
  return ok({ kind: "keys create", dataDir, ...values, permissions: permissions.value });
}

function permissionsOf({
  permissions,
  client,
  deviceId,
  userId,
}: ValuesOf<"keys create">): Result<readonly Permission[], string> {
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

function oneId(positionals: readonly string[], command: string): Result<string, string> {
  const needs = "the id of a key, as keys list shows it";
  return oneArgument(positionals, command, { needs, takes: "one id" });
}
