import process from "node:process";
import { parseCommand } from "../../src/cli/parse-command.ts";
import { isObject } from "../../src/lib/is-object.ts";
import { HELPER_WORD, setNativeLibraries } from "../../src/runtime/helper/executable.ts";
import { checkFolder, chooseLibraryFolder, unpackIntoFolder } from "./libraries.ts";

/** What the executable runs: the program, or one of the scripts of the program's helper processes. */

const HELPERS: Readonly<Record<string, () => Promise<unknown>>> = {
  "/src/app/part-maker.ts": () => import("../../src/app/part-maker.ts"),
  "/src/app/export-maker.ts": () => import("../../src/app/export-maker.ts"),
  "/src/app/event-checkpointer.ts": () => import("../../src/app/event-checkpointer.ts"),
  "/src/app/event-copier.ts": () => import("../../src/app/event-copier.ts"),
  "/src/app/upload-reader.ts": () => import("../../src/app/upload-reader.ts"),
};

setNativeLibraries({ check: checkFolder, unpack: unpackIntoFolder });
const [, , word, script] = process.argv;
if (word === HELPER_WORD) {
  process.argv.splice(2, 2); // As if the script had been started by itself.
  await HELPERS[script!]!();
} else {
  chooseLibraryFolder(dataDirectory());
  await import("../../src/main.ts");
}

/** The data directory of the command, if it has one. */
function dataDirectory(): string | null {
  const parsed = parseCommand(process.argv.slice(2), process.env);
  if (!parsed.ok) return null;
  const { options } = parsed.value;
  const { config = options } = options as { readonly config?: unknown };
  return isObject(config) && typeof config.dataDir === "string" ? config.dataDir : null;
}
