import { fail, ok, type Result } from "../../lib/result.ts";
import { oneArgument } from "../arguments/positionals.ts";
import type { ValuesOf } from "../commands.ts";
import { parseServerChoice, type ServerChoice } from "./doctor-command.ts";

/** Which server is asked, and with which key; without a URL it is the one of the directory, else the default one. */
interface Asked {
  readonly dataDir: string;
  readonly url: string | null;
  readonly key: string;
}

export interface QuarantineListCommand extends Omit<ValuesOf<"quarantine list">, "url" | "key" | "appId"> {
  readonly kind: "quarantine list";
  readonly choice: ServerChoice;
}

export interface QuarantineShowCommand {
  readonly kind: "quarantine show";
  readonly choice: ServerChoice;
  readonly id: string;
  readonly json: boolean;
}

/** Null ids are all that the filters let through. */
export interface QuarantineChangeCommand
  extends Omit<ValuesOf<"quarantine replay" | "quarantine delete">, "key" | "all">,
    Asked {
  readonly kind: "quarantine replay" | "quarantine delete";
  readonly ids: readonly string[] | null;
}

export function parseQuarantineList(
  { url, key, appId, ...values }: ValuesOf<"quarantine list">,
  dataDir: string,
): Result<QuarantineListCommand, string> {
  const choice = parseServerChoice("quarantine list", { url, key, appId }, dataDir);
  return choice.ok ? ok({ kind: "quarantine list", choice: choice.value, ...values }) : choice;
}

export function parseQuarantineShow(
  { json, ...server }: ValuesOf<"quarantine show">,
  dataDir: string,
  positionals: readonly string[],
): Result<QuarantineShowCommand, string> {
  const needs = "the id of an entry, as quarantine list shows it";
  const id = oneArgument(positionals, "quarantine show", { needs, takes: "one id" });
  if (!id.ok) return id;
  const choice = parseServerChoice("quarantine show", server, dataDir);
  return choice.ok ? ok({ kind: "quarantine show", choice: choice.value, id: id.value, json }) : choice;
}

export const parseQuarantineReplay = parserOfChange("replay");
export const parseQuarantineDelete = parserOfChange("delete");

function parserOfChange(verb: "replay" | "delete") {
  const kind = `quarantine ${verb}` as const;
  return (
    { key, all, ...values }: ValuesOf<typeof kind>,
    dataDir: string,
    ids: readonly string[],
  ): Result<QuarantineChangeCommand, string> => {
    const isFiltered = values.client !== null || values.reason !== null || values.deviceId !== null;
    if (all && ids.length > 0) return fail(`${kind} takes ids or --all, not both`);
    if (!all && ids.length === 0) return fail(`${kind} needs ids, as quarantine list shows them, or --all`);
    if (isFiltered && !all) return fail("--client, --reason and --device say which of --all are meant");
    if (key === null) return fail(`${kind} needs --key, or the key in WHEREHOUSE_KEY`);
    return ok({ kind, dataDir, key, ids: all ? null : ids, ...values });
  };
}
