/** A listening HTTP server, in our words. `fetch` answers every request and never throws. */
export interface ListenOptions {
  readonly hostname: string;
  /** 0 is any free port. */
  readonly port: number;
  fetch(request: Request): Response | Promise<Response>;
}

export interface Listener {
  readonly hostname: string;
  readonly port: number;
  readonly url: string;
  /**
   * Accepts nothing more, lets running requests finish for up to `graceMs`, then gives up on the rest. Bun cuts
   * those connections; Deno has no way to, they end with the process. Deno goes on accepting while running requests
   * bring a body, so `fetch` should refuse by then. Calls after the first wait for it.
   */
  stop(graceMs: number): Promise<void>;
}

/** Rejects with a `ListenError` where the address can't be had. */
export type Listen = (options: ListenOptions) => Promise<Listener>;

/** Says which address could not be had, why, and what can be done. */
export class ListenError extends Error {
  override readonly name = "ListenError";

  constructor(hostname: string, port: number, cause: unknown) {
    super(`Cannot listen on ${hostAndPort(hostname, port)}: ${reasonOf(hostname, cause)}`, { cause });
  }
}

export function hostAndPort(hostname: string, port: number): string {
  return hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
}

/** Resolves with the work, or after `graceMs`, whichever is first; true where the work was done. */
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
      return "the port is in use. Stop the program that holds it, or choose another with --port.";
    case "EACCES":
      return "not permitted. Ports below 1024 need privileges; choose another with --port.";
    case "EADDRNOTAVAIL":
      return "this machine has no such address. Choose one of its own with --host.";
    default:
      return cause instanceof Error ? cause.message : String(cause);
  }
}

/** Deno's error has no code. */
function isUnknownName(cause: unknown): boolean {
  const code = codeOf(cause);
  return code === "ENOTFOUND" || code === "EAI_AGAIN" || /failed to lookup address/.test(String(cause));
}

function codeOf(cause: unknown): unknown {
  return cause instanceof Error && "code" in cause ? cause.code : null;
}
