import { fail, ok, type Result } from "../../lib/result.ts";

/** The arguments of a command that are no flags. Errors are a line without a full stop. */

/** For a command that takes one: `needs` says in full what that is, `takes` in short. */
export function oneArgument(
  positionals: readonly string[],
  command: string,
  { needs, takes }: { readonly needs: string; readonly takes: string },
): Result<string, string> {
  const [argument, more] = positionals;
  if (argument === undefined || argument === "") return fail(`${command} needs ${needs}`);
  return more === undefined ? ok(argument) : fail(`${command} takes ${takes}, and "${more}" is one more`);
}
