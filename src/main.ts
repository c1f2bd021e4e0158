import process from "node:process";
import { parseCommand } from "./cli/command.ts";
import { runCommand } from "./cli/run.ts";
import { createPlatform } from "./runtime/platform.ts";
import { createTerminal } from "./runtime/process.ts";

/** argv in, exit code out: the only file with effects on the whole process. */
process.exitCode = await runCommand(
  parseCommand(process.argv.slice(2), process.env),
  createPlatform(),
  createTerminal(),
);
