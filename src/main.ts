import process from "node:process";
import { programOf } from "./cli/help.ts";
import { parseCommand } from "./cli/parse-command.ts";
import { runCommand } from "./cli/run.ts";
import { createPlatform } from "./runtime/platform.ts";
import { createTerminal } from "./runtime/process.ts";

/** argv in, exit code out: the only file with effects on the whole process. */
const command = parseCommand(process.argv.slice(2), process.env);
const exitCode = await runCommand(command, createPlatform(), createTerminal(), programOf(process.env));
// Explicitly, because Deno would stay alive for a connection that has outlived the grace period.
process.exit(exitCode);
