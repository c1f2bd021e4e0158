/** `fetch` answers every request and never throws. */
export interface ListenOptions {
  readonly hostname: string;
  /** 0 picks any free port. */
  readonly port: number;
  fetch(request: Request): Response | Promise<Response>;
}

export interface Listener {
  readonly hostname: string;
  readonly port: number;
  readonly url: string;
  /**
   * Stops accepting, lets running requests finish for up to `graceMs`, then gives up on the rest. Bun cuts those
   * connections; on Deno they end with the process. Deno still accepts connections while running requests have a body,
   * so `fetch` should refuse requests by then. Later calls wait for the first one.
   */
  stop(graceMs: number): Promise<void>;
}

/** Rejects with a `ListenError` if the address can't be used. */
export type Listen = (options: ListenOptions) => Promise<Listener>;

/** The message names the address, the reason and what to do. */
export class ListenError extends Error {
  override readonly name = "ListenError";

  constructor(hostname: string, port: number, cause: unknown) {
    super(`Cannot listen on ${hostAndPort(hostname, port)}: ${reasonOf(hostname, cause)}`, { cause });
  }
}

export function hostAndPort(hostname: string, port: number): string {
  return hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
}

/** Waits for the work for up to `graceMs`; true if it finished. */
export async function doneWithin(work: Promise<unknown>, graceMs: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, graceMs, false);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

function reasonOf(hostname: string, cause: unknown): string {
  if (isUnknownName(cause))
    return `no address is known for the name "${hostname}". Give an address of this machine with --host.`;
  switch (codeOf(cause)) {
    case "EADDRINUSE":
      return "the port is in use. Stop the program that uses it, or choose another with --port.";
    case "EACCES":
      return "not permitted. Ports below 1024 need privileges; choose another with --port.";
    case "EADDRNOTAVAIL":
      return "this machine has no such address. Choose one of its addresses with --host.";
    default:
      return cause instanceof Error ? cause.message : String(cause);
  }
}

/** Deno's error has no code, so check its message. */
function isUnknownName(cause: unknown): boolean {
  const code = codeOf(cause);
  return code === "ENOTFOUND" || code === "EAI_AGAIN" || /failed to lookup address/.test(String(cause));
}

function codeOf(cause: unknown): unknown {
  return cause instanceof Error && "code" in cause ? cause.code : null;
}
