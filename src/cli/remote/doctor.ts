import { printableLine } from "../../lib/text/printable.ts";
import { askFindings } from "../../operator/remote/ask-findings.ts";
import {
  checkMqtt,
  checkProxy,
  checkReady,
  checkStored,
  checkWebhooks,
} from "../../operator/remote/checkup.ts";
import type { Terminal } from "../../runtime/process.ts";
import type { CommandContext } from "../arguments/command.ts";
import { refuse } from "../screen/layout.ts";
import type { DoctorOptions } from "./command.ts";
import { doctorReport } from "./doctor-report.ts";
import { type TargetApp, withServer } from "./own-server.ts";

/**
 * Prints what is wrong with a server's devices and its address; returns 1 if something is, or if the server can't say.
 */
export function doctor(command: DoctorOptions, context: CommandContext): Promise<number> {
  const { terminal } = context;
  return withServer(command.choice, "doctor", context, async (apps) => {
    if (!apps.ok) return refuse(printableLine(apps.error), terminal);
    if (command.json && apps.value.length > 1) {
      const names = apps.value.map(({ appId }) => appId).join(", ");
      return refuse(
        `--json prints one app, and the directory has ${names}: choose one with --app.`,
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

/** The first app's report includes the problems of the server itself. */
async function examine(
  { server }: TargetApp,
  isFirst: boolean,
  { deviceId, json }: DoctorOptions,
  terminal: Terminal,
): Promise<number> {
  const { url } = server;
  const answer = await askFindings({ ...server, deviceId }, fetch);
  if (!answer.ok) return refuse(printableLine(answer.error), terminal);
  const { mqtt, stored, webhooks = [] } = answer.value;
  const problems = [
    ...(isFirst ? [...(await checkReady(url, fetch)), ...(await checkProxy(url, fetch))] : []),
    ...(mqtt === undefined ? [] : checkMqtt(mqtt)),
    ...checkWebhooks(webhooks),
    ...(stored === undefined ? [] : checkStored(stored)),
  ];
  const report = { url, ...answer.value, problems };
  terminal.out(json ? `${JSON.stringify(report, null, 2)}\n` : doctorReport(report, deviceId));
  return report.total_count + problems.length === 0 ? 0 : 1;
}
