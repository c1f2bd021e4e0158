import manifest from "../../package.json" with { type: "json" };
import type { Result } from "../lib/result.ts";
import { printableLine } from "../lib/text/printable.ts";
import type { Platform } from "../runtime/platform.ts";
import { stopRequested, type Terminal } from "../runtime/process.ts";
import { type Clock, systemClock } from "../time/clock.ts";
import type { Command, UsageError } from "./arguments/command.ts";
import { helpText, usageErrorText } from "./arguments/help.ts";
import { backup } from "./commands/backup.ts";
import { demo } from "./commands/demo.ts";
import { doctor } from "./commands/doctor.ts";
import { exportRecords } from "./commands/export/export.ts";
import { importFiles } from "./commands/import.ts";
import { createKey, listKeys, revokeKey } from "./commands/keys.ts";
import { linkKey } from "./commands/link.ts";
import { setPassPhrase } from "./commands/pass-phrase.ts";
import { changeQuarantine, listQuarantine, showQuarantined } from "./commands/quarantine.ts";
import { restore } from "./commands/restore.ts";
import { seal } from "./commands/seal.ts";
import { serve } from "./commands/serve.ts";
import { listSettings, setSettings } from "./commands/settings.ts";
import { verify } from "./commands/verify.ts";
import { isExplained } from "./explained-error.ts";

/** Does what the command line asks for; returns the exit code. `program` is how a person starts us. */
export async function runCommand(
  parsed: Result<Command, UsageError>,
  platform: Platform,
  terminal: Terminal,
  program: string,
): Promise<number> {
  if (!parsed.ok) {
    terminal.error(usageErrorText(parsed.error, program));
    return 2;
  }
  try {
    return await run(parsed.value, platform, systemClock, terminal, program);
  } catch (error) {
    if (!isExplained(error)) throw error;
    terminal.error(`${printableLine(error.message)}\n`);
    return 1;
  }
}

async function run(
  command: Command,
  platform: Platform,
  clock: Clock,
  terminal: Terminal,
  program: string,
): Promise<number> {
  switch (command.kind) {
    case "serve":
      return serve(command, platform, terminal, stopRequested());
    case "demo":
      return demo(command, platform, clock, terminal, stopSignal());
    case "keys create":
      return createKey(command, platform, clock, terminal);
    case "keys list":
      return listKeys(command, platform, clock, terminal);
    case "keys link":
      return linkKey(command, platform, clock, terminal);
    case "keys revoke":
      return revokeKey(command, platform, clock, terminal);
    case "keys passphrase":
      return setPassPhrase(command, platform, clock, terminal);
    case "import":
      return importFiles(command, platform, clock, terminal, stopSignal());
    case "export":
      return exportRecords(command, platform, clock, terminal, stopSignal());
    case "quarantine list":
      return listQuarantine(command, terminal);
    case "quarantine show":
      return showQuarantined(command, terminal);
    case "quarantine replay":
    case "quarantine delete":
      return changeQuarantine(command, terminal);
    case "doctor":
      return doctor(command, terminal);
    case "settings list":
      return listSettings(command, platform, clock, terminal);
    case "settings set":
      return setSettings(command, platform, clock, terminal);
    case "seal":
      return seal(command, platform, clock, terminal, stopSignal());
    case "backup":
      return backup(command, platform, clock, terminal);
    case "restore":
      return restore(command, platform, clock, terminal, program);
    case "verify":
      return verify(command, platform, clock, terminal);
    case "help":
      terminal.out(helpText(command.topic, program));
      return 0;
    case "version":
      terminal.out(`${manifest.version}\n`);
      return 0;
  }
}

function stopSignal(): AbortSignal {
  const controller = new AbortController();
  stopRequested().then(() => controller.abort());
  return controller.signal;
}
