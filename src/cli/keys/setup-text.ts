import { renderUnicodeCompact } from "uqr";
import type { ClientName } from "../../clients/client.ts";
import { adviceFor, type Setup, type SetupRequest } from "../../clients/setup.ts";
import { SETUPS } from "../../clients/setups.ts";
import type { Binding } from "../../model/binding.ts";

/** A placeholder for the server's address if `--url` is missing. */
const NO_SERVER_URL = "https://YOUR-HOST";

/** What to type into an app, in the order of the output. */
export interface SetupText {
  readonly fields: string;
  /** A QR code; null if the app reads none, or if the output is no terminal or a narrow one. */
  readonly code: string | null;
  readonly notes: string;
}

interface Target extends Binding {
  readonly serverUrl: string | null;
}

/** `columns` is the terminal's width, null for other outputs. A field whose value is the key refers to it by name. */
export function setupText(
  client: ClientName,
  { serverUrl, deviceId, userId }: Target,
  key: string,
  columns: number | null,
): SetupText {
  const request: SetupRequest = { serverUrl: serverUrl ?? NO_SERVER_URL, key, deviceId, userId };
  const setup = SETUPS[client](request);
  const link = serverUrl === null ? null : setup.link;
  const code = link === null || columns === null ? null : qrCode(link.url, columns);
  const what = [
    `Set up ${setup.app}: ${setup.place}.`,
    fieldLines(setup, key),
    setup.paste?.trimEnd() ?? "",
    link === null ? "" : linkText(link, code !== null),
  ];
  const notes = [...placeholderNotes(setup, serverUrl), ...setup.notes, ...adviceFor(setup, request)];
  return {
    fields: `${what.filter((section) => section !== "").join("\n\n")}\n\n`,
    code,
    notes: notes.map((note) => `- ${note}\n`).join(""),
  };
}

function fieldLines({ fields }: Setup, key: string): string {
  const width = Math.max(0, ...fields.map(({ name }) => name.length));
  return fields
    .map(({ name, value }) => `  ${name.padEnd(width)}  ${value === key ? "the key" : value}`)
    .join("\n");
}

function linkText({ url, opensApp }: NonNullable<Setup["link"]>, hasCode: boolean): string {
  if (hasCode) return opensApp ? "Or scan this with the phone's camera:" : "Or scan this in the app:";
  const how = opensApp ? "Or open this link on the phone" : "Or scan this link in the app, as a QR code";
  return `${how} (a wider terminal shows the code):\n\n  ${url}`;
}

function placeholderNotes({ link }: Setup, serverUrl: string | null): string[] {
  if (serverUrl !== null) return [];
  const code = link === null ? "" : ", which also prints a code to scan";
  return [`Replace ${NO_SERVER_URL} by your server's address, or pass it with --url${code}.`];
}

/** The white border of the code. Scanners need one, but read codes with less than the four modules of the standard. */
const BORDER_MODULES = 2;

/**
 * The text as a QR code for a terminal that writes white on black, from half blocks: a module is one column wide and
 * half a line high. Null if the code is wider than `columns`.
 */
export function qrCode(text: string, columns: number): string | null {
  const code = renderUnicodeCompact(text, { ecc: "L", border: BORDER_MODULES });
  return code.indexOf("\n") <= columns ? code : null;
}
