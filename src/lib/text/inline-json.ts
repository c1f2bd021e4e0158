import { Buffer } from "node:buffer";

/**
 * A configuration as links carry it: JSON in base64. Other characters than ASCII are escaped, since Colota decodes
 * bytes as Latin 1; base64's own `+` is percent-encoded, since some parsers of URLs take it for a space.
 */
export function inlineJson(configuration: Readonly<Record<string, unknown>>): string {
  const json = JSON.stringify(configuration).replaceAll(/[^\x20-\x7e]/g, escaped);
  return encodeURIComponent(Buffer.from(json, "latin1").toString("base64"));
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
