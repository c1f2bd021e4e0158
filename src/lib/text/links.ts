import { Buffer } from "node:buffer";

// Addresses of servers as people write them, and configurations in links.

/** The URL of a server as people write it, without trailing slashes; null if it can't be one. */
export function parseServerUrl(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  if (url.search !== "" || url.hash !== "" || url.username !== "") return null;
  let end = url.href.length;
  while (url.href[end - 1] === "/") end--; // A regular expression for it takes quadratic time.
  return url.href.slice(0, end);
}

const HOST_PORT = /^(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::(\d{1,5}))?$/;

/** Parses `HOST:PORT` or `HOST`, with an IPv6 address in brackets; null if it is neither. */
export function parseHostPort(text: string, defaultPort: number): string | null {
  const [, host, portText] = HOST_PORT.exec(text) ?? [];
  const port = portText === undefined ? defaultPort : Number(portText);
  return host === undefined || port < 1 || port > 65_535 ? null : `${host.toLowerCase()}:${port}`;
}

/**
 * A configuration for a link: JSON in base64. Characters beyond ASCII are escaped, since Colota decodes bytes as
 * Latin-1; base64's `+` is percent-encoded, since some URL parsers take it for a space.
 */
export function inlineJson(configuration: Readonly<Record<string, unknown>>): string {
  const json = JSON.stringify(configuration).replaceAll(/[^\x20-\x7e]/g, escaped);
  return encodeURIComponent(Buffer.from(json, "latin1").toString("base64"));
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
