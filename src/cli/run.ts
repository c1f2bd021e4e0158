import manifest from "../../package.json" with { type: "json" };
import type { Result } from "../lib/result.ts";
import { printableLine } from "../lib/text/printable.ts";
import { type Clock, systemClock } from "../model/time/clock.ts";
import type { Platform } from "../runtime/platform.ts";
import type { Terminal } from "../runtime/process.ts";
import { type Sharing, sharing } from "./cluster/node-directory.ts";
import { explanationOf, isExplained } from "./explained-error.ts";
import { helpText, usageErrorText } from "./help.ts";
import type { Command, UsageError } from "./parse-command.ts";

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
    terminal.error(`${printableLine(explanationOf(error))}\n`);
    return 1;
  }
}

// A command's modules are loaded when it is asked for: those of a server take longer than most commands do.
async function run(
  command: Command,
  platform: Platform,
  clock: Clock,
  terminal: Terminal,
  program: string,
): Promise<number> {
  const stop = () => stopSignal(platform);
  switch (command.kind) {
    case "serve":
      return (await import("./serve/run.ts")).serve(command, platform, terminal);
    case "demo":
      return (await import("./demo/run.ts")).demo(command, platform, clock, terminal, stop());
    case "keys create":
    case "keys list":
    case "keys link":
    case "keys revoke":
    case "keys passphrase":
    case "settings list":
    case "settings set":
      return sharing(command.dataDir, platform, (shared) => runShared(command, shared, clock, terminal));
    case "import":
      return (await import("./import/run.ts")).importFiles(command, platform, clock, terminal, stop());
    case "export":
      return (await import("./export/run.ts")).exportRecords(command, platform, clock, terminal, stop());
    case "quarantine list":
      return (await import("./remote/quarantine.ts")).listQuarantine(command, platform, clock, terminal);
    case "quarantine show":
      return (await import("./remote/quarantine.ts")).showQuarantined(command, platform, clock, terminal);
    case "quarantine replay":
    case "quarantine delete":
      return (await import("./remote/quarantine.ts")).changeQuarantine(command, platform, clock, terminal);
    case "doctor":
      return (await import("./remote/doctor.ts")).doctor(command, platform, clock, terminal);
    case "seal":
      return (await import("./directory/seal.ts")).seal(command, platform, clock, terminal, stop());
    case "backup":
      return (await import("./directory/backup.ts")).backup(command, platform, clock, terminal);
    case "restore":
      return (await import("./directory/restore.ts")).restore(command, platform, clock, terminal, program);
    case "join": {
      const { join } = await import("./cluster/join.ts");
      return join(command, platform, clock, terminal, program, stop());
    }
    case "verify":
      return (await import("./directory/verify.ts")).verify(command, platform, clock, terminal);
    case "cluster nodes":
      return (await import("./cluster/nodes.ts")).listNodes(command, platform, clock, terminal);
    case "cluster init":
      return (await import("./cluster/init.ts")).clusterInit(
        command,
        platform,
        clock,
        terminal,
        program,
        stop(),
      );
    case "help":
      terminal.out(helpText(command.topic, program));
      return 0;
    case "version":
      terminal.out(`${manifest.version}\n`);
      return 0;
  }
}

type SharedCommand = Extract<Command, { readonly kind: `${"keys" | "settings"} ${string}` }>;

/** Commands about what servers share: with the command line, and with one another. */
async function runShared(
  command: SharedCommand,
  platform: Sharing<Platform>,
  clock: Clock,
  terminal: Terminal,
): Promise<number> {
  switch (command.kind) {
    case "keys create":
      return (await import("./keys/keys.ts")).createKey(command, platform, clock, terminal);
    case "keys list":
      return (await import("./keys/keys.ts")).listKeys(command, platform, clock, terminal);
    case "keys link":
      return (await import("./keys/link.ts")).linkKey(command, platform, clock, terminal);
    case "keys revoke":
      return (await import("./keys/keys.ts")).revokeKey(command, platform, clock, terminal);
    case "keys passphrase":
      return (await import("./keys/pass-phrase.ts")).setPassPhrase(command, platform, clock, terminal);
    case "settings list":
      return (await import("./directory/settings.ts")).listSettings(command, platform, clock, terminal);
    case "settings set":
      return (await import("./directory/settings.ts")).setSettings(command, platform, clock, terminal);
  }
}

function stopSignal(platform: Platform): AbortSignal {
  const controller = new AbortController();
  platform.stopRequested().then(() => controller.abort());
  return controller.signal;
}
