import { isWellFormedKey } from "../../auth/api-key.ts";
import { ok, type Result } from "../../lib/result.ts";
import { parseAppId } from "../../model/app-id.ts";
import { ANONYMOUS, type UserId } from "../../model/ids.ts";
import { addReport } from "../../model/report.ts";
import { createReportBatchBuilder } from "../../model/report-batch.ts";
import { formatOfName, type ImportFormat } from "../../service/import/input.ts";
import type { Command, Environment, ImportTarget, UsageError } from "./command.ts";
import { type Flags, usage } from "./flags.ts";
import { APP_RULE } from "./keys-command.ts";

export function parseImport(
  flags: Flags,
  dataDir: string,
  environment: Environment,
): Result<Command, UsageError> {
  const shiftToNow = flags.has("shift-to-now");
  const files = parseFiles(flags);
  if (!files.ok) return files;
  if (shiftToNow && flags.positionals.includes("-")) {
    return usage("--shift-to-now reads files twice, and standard input can be read once");
  }
  const target = parseTarget(flags, environment);
  if (!target.ok) return target;
  const userText = flags.value("user");
  const fault = userText === null ? null : userFault(userText);
  if (fault !== null) return usage(`--user: ${fault}`);
  const userId = userText as UserId | null;
  return ok({ kind: "import", dataDir, files: files.value, target: target.value, userId, shiftToNow });
}

function parseFiles(
  flags: Flags,
): Result<readonly { readonly path: string; readonly format: ImportFormat }[], UsageError> {
  const { positionals } = flags;
  if (positionals.length === 0) return usage("import needs at least one file, or - for standard input");
  if (positionals.filter((path) => path === "-").length > 1) return usage("- can be given once");
  const formatText = flags.value("format");
  if (formatText !== null && formatText !== "csv" && formatText !== "ndjson") {
    return usage(`--format must be csv or ndjson, not "${formatText}"`);
  }
  const files: { path: string; format: ImportFormat }[] = [];
  for (const path of positionals) {
    const format = formatText ?? formatOfName(path);
    if (format === null)
      return usage(`"${path}" does not say what it is: add --format csv or --format ndjson`);
    files.push({ path, format });
  }
  return ok(files);
}

function parseTarget(flags: Flags, environment: Environment): Result<ImportTarget, UsageError> {
  const app = flags.value("app");
  const appId = app === null ? null : parseAppId(app);
  if (app !== null && appId === null) return usage(`--app must have ${APP_RULE}, not "${app}"`);
  const urlText = flags.value("url");
  if (urlText === null) {
    if (flags.has("key")) return usage("--key goes with --url");
    return appId === null
      ? usage("import needs --app, or --url with --key")
      : ok({ kind: "directory", appId });
  }
  const url = parseServerUrl(urlText);
  if (url === null) return usage(`--url must be an address such as http://127.0.0.1:3000, not "${urlText}"`);
  const key = flags.value("key") ?? environment.WHEREHOUSE_KEY;
  if (!key) return usage("--url needs --key, or the key in WHEREHOUSE_KEY");
  if (!isWellFormedKey(key))
    return usage("the key has a character wrong or missing: give it as keys create printed it");
  return ok({ kind: "server", url, key });
}

/** The address without a slash at its end. */
function parseServerUrl(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  if (url.search !== "" || url.hash !== "" || url.username !== "") return null;
  let end = url.href.length;
  while (url.href[end - 1] === "/") end--; // An expression for it takes the square of their number.
  return url.href.slice(0, end);
}

/** What reports with this user would be told; null where they would be taken. */
function userFault(user: string): string | null {
  if (user === ANONYMOUS) return `${ANONYMOUS} stands for reports without a user`;
  const sample = { device_id: "any", timestamp: 0, latitude: 0, longitude: 0, user_id: user };
  return addReport(sample, { oldestMs: 0, newestMs: 0 }, createReportBatchBuilder(1));
}
