import { PERMISSIONS } from "../../auth/permissions.ts";
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
  const isBound = values.deviceId !== null || values.userId !== null;
  if (isBound && !values.permissions.includes("write"))
    return fail("--device and --user say whom a key reports as: add --permission write");
  const permissions = PERMISSIONS.filter((permission) => values.permissions.includes(permission));
  return ok({ kind: "keys create", dataDir, ...values, permissions });
}

export function parseKeysRevoke(
  _values: ValuesOf<"keys revoke">,
  dataDir: string,
  positionals: readonly string[],
): Result<KeysRevokeCommand, string> {
  const needs = "the id of a key, as keys list shows it";
  const id = oneArgument(positionals, "keys revoke", { needs, takes: "one id" });
  return id.ok ? ok({ kind: "keys revoke", dataDir, id: id.value }) : id;
}
