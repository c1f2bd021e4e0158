import { printableLine } from "../../lib/text/printable.ts";
import { askFindings } from "../../operator/remote/ask-findings.ts";
import { checkMqtt, checkProxy, checkReady } from "../../operator/remote/checkup.ts";
import type { Terminal } from "../../runtime/process.ts";
import type { CommandContext } from "../arguments/command.ts";
import { refuse } from "../screen/layout.ts";
import type { DoctorOptions } from "./command.ts";
import { doctorReport } from "./doctor-report.ts";
import { type AskedApp, askingServer } from "./own-server.ts";

/** Asks a server what is wrong with its devices and its way in; returns 1 where anything is, or where it can't tell. */
export function doctor(command: DoctorOptions, context: CommandContext): Promise<number> {
  const { terminal } = context;
  return askingServer(command.choice, "doctor", context, async (apps) => {
    if (!apps.ok) return refuse(printableLine(apps.error), terminal);
    if (command.json && apps.value.length > 1) {
      const names = apps.value.map(({ appId }) => appId).join(", ");
      return refuse(
        `--json is about one app, and the directory has ${names}: name one with --app.`,
        terminal,
      );
    }
    let exitCode = 0;
    for (const [index, app] of apps.value.entries()) {
      if (apps.value.length > 1) terminal.out(`App ${printableLine(String(app.appId))}:\n`);
      exitCode = Math.max(exitCode, await examine(app, index === 0, command, terminal));
    }
    return exitCode;
  });
}

/** What is wrong with the server itself is told with the first app. */
async function examine(
  { server }: AskedApp,
  isFirst: boolean,
  { deviceId, json }: DoctorOptions,
  terminal: Terminal,
): Promise<number> {
  const { url } = server;
  const told = await askFindings({ ...server, deviceId }, fetch);
  if (!told.ok) return refuse(printableLine(told.error), terminal);
  const { mqtt } = told.value;
  const problems = [
    ...(isFirst ? [...(await checkReady(url, fetch)), ...(await checkProxy(url, fetch))] : []),
    ...(mqtt === undefined ? [] : checkMqtt(mqtt)),
  ];
  const report = { url, ...told.value, problems };
  terminal.out(json ? `${JSON.stringify(report, null, 2)}\n` : doctorReport(report, deviceId));
  return report.total_count + problems.length === 0 ? 0 : 1;
}
