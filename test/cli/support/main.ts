import process from "node:process";
import { parseCommand } from "../../../src/cli/command.ts";
import { runCommand } from "../../../src/cli/run.ts";
import { createPlatform } from "../../../src/runtime/platform.ts";
import { createTerminal } from "../../../src/runtime/process.ts";
import { openNodeInput } from "./node-input.ts";

process.exitCode = await runCommand(
  parseCommand(process.argv.slice(2), process.env),
  { ...createPlatform(), openInput: openNodeInput },
  createTerminal(),
);
