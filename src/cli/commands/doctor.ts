import { printableLine } from "../../lib/text/printable.ts";
import type { Terminal } from "../../runtime/process.ts";
import { askFindings } from "../../service/checkup/ask-findings.ts";
import { checkMqtt } from "../../service/checkup/check-mqtt.ts";
import { checkProxy } from "../../service/checkup/check-proxy.ts";
import { checkReady } from "../../service/checkup/check-ready.ts";
import type { DoctorCommand } from "../arguments/doctor-command.ts";
import { doctorReport } from "../screen/doctor-report.ts";

/** Asks a server what is wrong with its devices and its way in; returns 1 where anything is, or where it can't tell. */
export async function doctor(command: DoctorCommand, terminal: Terminal): Promise<number> {
  const { url, json } = command;
  const told = await askFindings(command, fetch);
  if (!told.ok) {
    terminal.error(`${printableLine(told.error)}\n`);
    return 1;
  }
  const { mqtt } = told.value;
  const problems = [
    ...(await checkReady(url, fetch)),
    ...(await checkProxy(url, fetch)),
    ...(mqtt === undefined ? [] : checkMqtt(mqtt)),
  ];
  const report = { url, ...told.value, problems };
  terminal.out(json ? `${JSON.stringify(report, null, 2)}\n` : doctorReport(report, command.deviceId));
  return report.total_count + problems.length === 0 ? 0 : 1;
}
