import { fail, ok, type Result } from "../../lib/result.ts";
import type { ValuesOf } from "./flag-table.ts";
import { oneArgument } from "./positionals.ts";

/** Which server is asked, and with which key. */
interface Asked {
  readonly url: string;
  readonly key: string;
}

export interface QuarantineListCommand extends Omit<ValuesOf<"quarantine list">, "key">, Asked {
  readonly kind: "quarantine list";
}

export interface QuarantineShowCommand extends Omit<ValuesOf<"quarantine show">, "key">, Asked {
  readonly kind: "quarantine show";
  readonly id: string;
}

/** Null ids are all that the filters let through. */
export interface QuarantineChangeCommand
  extends Omit<ValuesOf<"quarantine replay" | "quarantine delete">, "key" | "all">,
    Asked {
  readonly kind: "quarantine replay" | "quarantine delete";
  readonly ids: readonly string[] | null;
}

export function parseQuarantineList({
  key,
  ...values
}: ValuesOf<"quarantine list">): Result<QuarantineListCommand, string> {
  return key === null ? needsKey("list") : ok({ kind: "quarantine list", key, ...values });
}

export function parseQuarantineShow(
  { key, ...values }: ValuesOf<"quarantine show">,
  _dataDir: string,
  positionals: readonly string[],
): Result<QuarantineShowCommand, string> {
  const needs = "the id of an entry, as quarantine list shows it";
  const id = oneArgument(positionals, "quarantine show", { needs, takes: "one id" });
  if (!id.ok) return id;
  return key === null ? needsKey("show") : ok({ kind: "quarantine show", key, id: id.value, ...values });
}

export const parseQuarantineReplay = parserOfChange("replay");
export const parseQuarantineDelete = parserOfChange("delete");

function parserOfChange(verb: "replay" | "delete") {
  const kind = `quarantine ${verb}` as const;
  return (
    { key, all, ...values }: ValuesOf<typeof kind>,
    _dataDir: string,
    ids: readonly string[],
  ): Result<QuarantineChangeCommand, string> => {
    const isFiltered = values.client !== null || values.reason !== null || values.deviceId !== null;
    if (all && ids.length > 0) return fail(`${kind} takes ids or --all, not both`);
    if (!all && ids.length === 0) return fail(`${kind} needs ids, as quarantine list shows them, or --all`);
    if (isFiltered && !all) return fail("--client, --reason and --device say which of --all are meant");
    return key === null ? needsKey(verb) : ok({ kind, key, ids: all ? null : ids, ...values });
  };
}

function needsKey(verb: string): Result<never, string> {
  return fail(`quarantine ${verb} needs --key, or the key in WHEREHOUSE_KEY`);
}
