/** Below the timeout of a unit test, which would not say what hung. */
const HANG_MS = 15_000;

/** Rejects once the work has hung for that long, and names it. How long work may take is not for this to say. */
export async function unlessHung<Value>(
  work: Promise<Value>,
  what: string,
  hangMs = HANG_MS,
): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hung = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It hangs: ${what}`)), hangMs);
  });
  try {
    return await Promise.race([work, hung]);
  } finally {
    clearTimeout(timer);
  }
}
