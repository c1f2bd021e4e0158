import { LABEL_CHARACTERS_MAX, parseLabel } from "../../auth/key-file.ts";
import { PERMISSIONS, parsePermission } from "../../auth/permissions.ts";
import { parseTierName, TIER_NAMES, type TierName } from "../../auth/tiers.ts";
import { ok, type Result } from "../../lib/result.ts";
import { parseDuration } from "../../lib/text/duration.ts";
import { parseAppId } from "../../model/app-id.ts";
import type { Command, UsageError } from "./command.ts";
import { type Flags, noArguments, usage } from "./flags.ts";

export const DEFAULT_TIER: TierName = "standard";

export const APP_RULE = "1 to 64 letters, digits, dots, dashes and underscores";

export function parseKeysCreate(flags: Flags, dataDir: string): Result<Command, UsageError> {
  const unexpected = noArguments(flags);
  if (unexpected !== null) return unexpected;
  const app = flags.value("app");
  if (app === null) return usage("keys create needs --app");
  const appId = parseAppId(app);
  if (appId === null) return usage(`--app must have ${APP_RULE}, not "${app}"`);

  const names = flags.values("permission");
  if (names.length === 0) return usage(`keys create needs --permission: ${PERMISSIONS.join(", ")}`);
  const wrong = names.find((name) => parsePermission(name) === null);
  if (wrong !== undefined)
    return usage(`--permission must be one of ${PERMISSIONS.join(", ")}, not "${wrong}"`);
  const permissions = PERMISSIONS.filter((permission) => names.includes(permission));

  const tierText = flags.value("tier") ?? DEFAULT_TIER;
  const tier = parseTierName(tierText);
  if (tier === null) return usage(`--tier must be one of ${TIER_NAMES.join(", ")}, not "${tierText}"`);
  const label = parseLabel(flags.value("label") ?? "");
  if (label === null) {
    return usage(
      `--label must have at most ${LABEL_CHARACTERS_MAX} characters, none of them a control character`,
    );
  }
  const expires = flags.value("expires");
  const lifetimeMs = expires === null ? null : parseDuration(expires);
  if (expires !== null && lifetimeMs === null) {
    return usage(`--expires must be a time such as 90m, 12h, 30d or 2w, not "${expires}"`);
  }
  return ok({ kind: "keys-create", dataDir, appId, permissions, tier, label, lifetimeMs });
}
