import { createHash } from "node:crypto";

/** Two letters each: `aa` to `zz`. */
const LETTERS = 26;
const TIDS = LETTERS * LETTERS;

/**
 * The two letters that an app's devices are shown under. They follow from a device's name, so that they are mostly the
 * same after a restart; where two names want the same, who came first keeps it, for as long as the process runs.
 */
export class Tids {
  readonly #byDevice = new Map<string, string>();
  readonly #taken = new Set<string>();

  /** Gives each of these devices its letters, which are fewer than there are letters for. */
  handOut(deviceIds: readonly string[]): void {
    const unknown = deviceIds.filter((deviceId) => !this.#byDevice.has(deviceId));
    if (this.#taken.size + unknown.length > TIDS) this.#keepOnly(new Set(deviceIds));
    for (const deviceId of unknown) {
      const tid = this.#firstFree(deviceId);
      this.#byDevice.set(deviceId, tid);
      this.#taken.add(tid);
    }
  }

  of(deviceId: string): string | null {
    return this.#byDevice.get(deviceId) ?? null;
  }

  #firstFree(deviceId: string): string {
    const wanted = initialsOf(deviceId);
    if (wanted !== null && !this.#taken.has(wanted)) return wanted;
    const start = createHash("sha256").update(deviceId).digest().readUInt32LE(0);
    let index = 0;
    while (this.#taken.has(tidAt(start + index))) index++;
    return tidAt(start + index);
  }

  #keepOnly(deviceIds: ReadonlySet<string>): void {
    for (const [deviceId, tid] of this.#byDevice) {
      if (deviceIds.has(deviceId)) continue;
      this.#byDevice.delete(deviceId);
      this.#taken.delete(tid);
    }
  }
}

/** The first two letters of the name, whose user comes first. */
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
