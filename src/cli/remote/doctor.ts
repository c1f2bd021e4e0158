import { printableLine } from "../../lib/text/printable.ts";
import { askFindings } from "../../operator/remote/ask-findings.ts";
import { fetchAnswer } from "../../operator/remote/ask-server.ts";
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
import type { DoctorCommand, DoctorOptions, ReadyOptions } from "./command.ts";
import { doctorReport } from "./doctor-report.ts";
import { examineInstallation } from "./installation.ts";
import { type TargetApp, urlToAsk, withServer } from "./own-server.ts";

/** Does what the options ask for; returns the exit code. */
export function doctor(command: DoctorCommand, context: CommandContext): Promise<number> {
  switch (command.about) {
    case "devices":
      return examineDevices(command, context);
    case "ready":
      return askWhetherReady(command, context);
    case "install":
      return examineInstallation(command, context);
  }
}

/** For health checks: exit code 0 if the server is ready, else 1 and the reason. */
async function askWhetherReady(
  options: ReadyOptions,
  { platform, clock, terminal }: CommandContext,
): Promise<number> {
  const url = await urlToAsk(options, "doctor", platform, clock);
  const signal = AbortSignal.timeout(READY_TIMEOUT_MS);
  const answer = await fetchAnswer({ url, key: null }, "/ready", fetch, { signal });
  if (!answer.ok) return refuse(printableLine(answer.error), terminal);
  const { status } = answer.value;
  if (status !== 200) return refuse(printableLine(`${url}/ready answered ${status}`), terminal);
  terminal.out("Ready.\n");
  return 0;
}

/** Below the 5 s after which health checks give up. */
const READY_TIMEOUT_MS = 4000;

/**
 * Prints what is wrong with a server's devices and its address; returns 1 if something is, or if the server can't say.
 */
function examineDevices(command: DoctorOptions, context: CommandContext): Promise<number> {
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
