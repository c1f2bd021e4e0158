import { fail, ok, type Result } from "../../lib/result.ts";
import type { AppId, UserId } from "../../model/ids.ts";
import { formatOfName, type ImportFormat } from "../../service/import/input.ts";
import type { ValuesOf } from "./flag-table.ts";

/** What is imported, and into what: a data directory or a running server. */
export interface ImportCommand {
  readonly kind: "import";
  readonly dataDir: string;
  readonly files: readonly FileToImport[];
  readonly target: ImportTarget;
  readonly userId: UserId | null;
  readonly shiftToNow: boolean;
}

export interface FileToImport {
  readonly path: string;
  readonly format: ImportFormat;
}

export type ImportTarget =
  | { readonly kind: "directory"; readonly appId: AppId }
  | {
      readonly kind: "server";
      readonly url: string;
      readonly key: string;
      /** Whose the key must be; null where nobody said. */
      readonly appId: AppId | null;
    };

export function parseImport(
  values: ValuesOf<"import">,
  dataDir: string,
  positionals: readonly string[],
): Result<ImportCommand, string> {
  const { userId, format, shiftToNow } = values;
  const files = parseFiles(positionals, format);
  if (!files.ok) return files;
  if (shiftToNow && positionals.includes("-"))
    return fail("--shift-to-now reads files twice, and standard input can be read once");
  const target = parseTarget(values);
  if (!target.ok) return target;
  return ok({ kind: "import", dataDir, files: files.value, target: target.value, userId, shiftToNow });
}

function parseFiles(
  paths: readonly string[],
  formatOfAll: ImportFormat | null,
): Result<readonly FileToImport[], string> {
  if (paths.length === 0) return fail("import needs at least one file, or - for standard input");
  if (paths.filter((path) => path === "-").length > 1) return fail("- can be given once");
  const files: FileToImport[] = [];
  for (const path of paths) {
    const format = formatOfAll ?? formatOfName(path);
    if (format === null)
      return fail(`"${path}" does not say what it is: add --format csv or --format ndjson`);
    files.push({ path, format });
  }
  return ok(files);
}

function parseTarget({ appId, url, key }: ValuesOf<"import">): Result<ImportTarget, string> {
  if (url === null) {
    if (appId === null) return fail("import needs --app, or --url with --key");
    return ok({ kind: "directory", appId });
  }
  if (key === null) return fail("--url needs --key, or the key in WHEREHOUSE_KEY");
  return ok({ kind: "server", url, key, appId });
}
