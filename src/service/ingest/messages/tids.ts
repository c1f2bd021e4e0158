import { createHash } from "node:crypto";

/** Two letters each: `aa` to `zz`. */
const LETTERS = 26;
const TIDS = LETTERS * LETTERS;

/**
 * The two letters under which an app's devices are shown. They derive from a device's name, so they are mostly the same
 * after a restart; if two names want the same letters, the first keeps them as long as the process runs.
 */
export class Tids {
  readonly #byDevice = new Map<string, string>();
  readonly #used = new Set<string>();

  /** Assigns letters to these devices; there are more letters than devices. */
  handOut(deviceIds: readonly string[]): void {
    const unknown = deviceIds.filter((deviceId) => !this.#byDevice.has(deviceId));
    if (this.#used.size + unknown.length > TIDS) this.#keepOnly(new Set(deviceIds));
    for (const deviceId of unknown) {
      const tid = this.#firstFree(deviceId);
      this.#byDevice.set(deviceId, tid);
      this.#used.add(tid);
    }
  }

  of(deviceId: string): string | null {
    return this.#byDevice.get(deviceId) ?? null;
  }

  #firstFree(deviceId: string): string {
    const wanted = initialsOf(deviceId);
    if (wanted !== null && !this.#used.has(wanted)) return wanted;
    const start = createHash("sha256").update(deviceId).digest().readUInt32LE(0);
    let index = 0;
    while (this.#used.has(tidAt(start + index))) index++;
    return tidAt(start + index);
  }

  #keepOnly(deviceIds: ReadonlySet<string>): void {
    for (const [deviceId, tid] of this.#byDevice) {
      if (deviceIds.has(deviceId)) continue;
      this.#byDevice.delete(deviceId);
      this.#used.delete(tid);
    }
  }
}

/** The first letters of the user and the device in the name. */
function initialsOf(deviceId: string): string | null {
  return /[a-z].*?[a-z]/.exec(deviceId.toLowerCase())?.[0].replace(/[^a-z]/g, "") ?? null;
}

function tidAt(index: number): string {
  const wrapped = index % TIDS;
  return letter(Math.floor(wrapped / LETTERS)) + letter(wrapped % LETTERS);
}

function letter(index: number): string {
  return String.fromCharCode("a".charCodeAt(0) + index);
}
