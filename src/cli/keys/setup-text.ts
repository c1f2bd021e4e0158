import { renderUnicodeCompact } from "uqr";
import type { ClientName } from "../../clients/client.ts";
import { adviceFor, type Setup, type SetupRequest } from "../../clients/setup.ts";
import { SETUPS } from "../../clients/setups.ts";
import type { Binding } from "../../model/binding.ts";

/** Stands for a server whose address was not given. */
const NO_SERVER_URL = "https://YOUR-HOST";

/** What to type into an app, in the order in which it is shown. */
export interface SetupText {
  readonly fields: string;
  /** For a camera; null where the app reads none, or the terminal is too narrow, or is none. */
  readonly code: string | null;
  readonly notes: string;
}

interface Target extends Binding {
  /** Null if it was not given. */
  readonly serverUrl: string | null;
}

/** Null columns are no terminal. Where a field is the key alone, the key is not shown once more. */
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
  return `${how} (on a terminal that is wide enough it is a code):\n\n  ${url}`;
}

function placeholderNotes({ link }: Setup, serverUrl: string | null): string[] {
  if (serverUrl !== null) return [];
  const code = link === null ? "" : ", which also gives a code to scan";
  return [`Put your server's address in place of ${NO_SERVER_URL}, or say it with --url${code}.`];
}

/** White around the code. Scanners want it, and make do with less than the four modules of the standard. */
const BORDER_MODULES = 2;

/**
 * The text as a QR code for a terminal that writes white on black: half blocks, a column and half a line for a module.
 * Null where it is wider than this.
 */
export function qrCode(text: string, columns: number): string | null {
  const code = renderUnicodeCompact(text, { ecc: "L", border: BORDER_MODULES });
  return code.indexOf("\n") <= columns ? code : null;
}
