import { type Logger, pino } from "pino";
import { printable } from "../../lib/text/printable.ts";
import type { Terminal } from "../../runtime/process.ts";
import type { LogLevel } from "../serve/flags.ts";

/** `log.info({ event: "ready", records }, "Ready after ...")`: members for programs, a sentence for people. */
export type EventLog = Logger;

/**
 * The server's log on standard error: one line of JSON for each event, or its sentence alone on a terminal. JSON
 * escapes line ends in members that hold a client's text.
 */
export function createEventLog(
  level: LogLevel,
  terminal: Pick<Terminal, "error" | "errorIsTerminal">,
): EventLog {
  const options = {
    level,
    base: null, // The collector of the lines knows the process and its host.
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const write = terminal.errorIsTerminal
    ? (line: string) => terminal.error(sentenceOf(line))
    : (line: string) => terminal.error(line);
  return pino(options, { write });
}

/** The sentence of a JSON line, followed by the stack of its error. */
function sentenceOf(line: string): string {
  const { msg, err } = JSON.parse(line) as { msg: string; err?: string | { stack: string } };
  if (err === undefined) return `${printable(msg)}\n`;
  return `${printable(`${msg}\n${typeof err === "string" ? err : err.stack}`)}\n`;
}
