import { fail, ok, type Result } from "../../lib/result.ts";
import { FixedRetention, type Retention } from "../../model/time/retention.ts";
import type { ValuesOf } from "../commands.ts";

/** The command `settings set` as it is given. */
export interface SettingsSetCommand extends ValuesOf<"settings set"> {
  readonly kind: "settings set";
  readonly dataDir: string;
  readonly retention: Retention;
}

export function parseSettingsSet(
  values: ValuesOf<"settings set">,
  dataDir: string,
  [name, value, more]: readonly string[],
): Result<SettingsSetCommand, string> {
  if (name === undefined || value === undefined)
    return fail("settings set needs a name and a value, such as retention 10y");
  if (more !== undefined) return fail(`settings set takes one name and one value, and "${more}" is one more`);
  if (name !== "retention") return fail(`There is no setting "${name}"; there is retention`);
  const retention = FixedRetention.parse(value);
  if (!retention.ok) return fail(`retention ${retention.error}; "${value}" is not`);
  return ok({ kind: "settings set", dataDir, retention: retention.value, ...values });
}
