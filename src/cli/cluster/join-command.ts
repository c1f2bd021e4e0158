import { fail, ok, type Result } from "../../lib/result.ts";
import { oneArgument } from "../arguments/positionals.ts";
import { SERVER_URL } from "../arguments/value-kinds.ts";
import type { ValuesOf } from "../commands.ts";

/** Which node is copied, and where to. */
export interface JoinCommand extends Omit<ValuesOf<"join">, "key"> {
  readonly kind: "join";
  readonly dataDir: string;
  readonly url: string;
  readonly key: string;
}

export function parseJoin(
  { key, ...values }: ValuesOf<"join">,
  dataDir: string,
  positionals: readonly string[],
): Result<JoinCommand, string> {
  const given = oneArgument(positionals, "join", {
    needs: "the address of a running node",
    takes: "one address",
  });
  if (!given.ok) return given;
  const url = SERVER_URL.parse(given.value, "URL");
  if (!url.ok) return url;
  return key === null
    ? fail("join needs --key, or the key in WHEREHOUSE_KEY")
    : ok({ kind: "join", dataDir, url: url.value, key, ...values });
}
