import { type Logger, pino } from "pino";
import { printable } from "../../lib/text/printable.ts";
import type { Terminal } from "../../runtime/process.ts";
import type { LogLevel } from "../serve/flags.ts";

/** `log.info({ event: "ready", records }, "Ready after ...")`: members for programs, a sentence for people. */
export type EventLog = Logger;

/**
 * What the server has to say, on standard error: one line of JSON an event, or the sentence alone where a person
 * watches. JSON escapes whatever a client may have put into a member, so that a line stays a line.
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

/** The sentence of a line, and behind it where a failure came from. */
function sentenceOf(line: string): string {
  const { msg, err } = JSON.parse(line) as { msg: string; err?: string | { stack: string } };
  if (err === undefined) return `${printable(msg)}\n`;
  return `${printable(`${msg}\n${typeof err === "string" ? err : err.stack}`)}\n`;
}
