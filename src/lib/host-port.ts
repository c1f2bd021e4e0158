const HOST_PORT = /^(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::(\d{1,5}))?$/;

/** `HOST:PORT` of a text that may leave the port out, with an IPv6 address in brackets; null where it can't be one. */
export function parseHostPort(text: string, defaultPort: number): string | null {
  const [, host, portText] = HOST_PORT.exec(text) ?? [];
  const port = portText === undefined ? defaultPort : Number(portText);
  return host === undefined || port < 1 || port > 65_535 ? null : `${host.toLowerCase()}:${port}`;
}
