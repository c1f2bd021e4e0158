/** Shorter than the timeout of a unit test, which would not name what hung. */
const HANG_MS = 15_000;

/** Rejects with the name of the work once it has hung for `HANG_MS`. It does not judge how long work may take. */
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
