import { fail, ok, type Result } from "../lib/result.ts";
import { parseVersionedJson } from "../lib/text/versioned-json.ts";
import { DEFAULT_RETENTION, FixedRetention, type Retention } from "../model/time/retention.ts";
import {
  type FileFormat,
  SharedFile,
  type SharedFileDependencies,
  type SharedFileError,
  type SharedFileState,
} from "./shared-file.ts";

interface Values {
  readonly retention: Retention;
}

/** Another process has changed the retention in the meantime; `text` is the new one. */
export interface SettingsChanged {
  readonly kind: "changed";
  readonly text: string;
}

const FORMAT_VERSION = 1;

export function encodeSettings({ retention }: Values): Uint8Array {
  const members = { version: FORMAT_VERSION, retention: retention.text };
  return new TextEncoder().encode(`${JSON.stringify(members, null, 2)}\n`);
}

export function parseSettings(bytes: Uint8Array): Result<Values, string> {
  const content = parseVersionedJson(bytes, FORMAT_VERSION);
  if (!content.ok) return content;
  const { retention } = content.value;
  const parsed = typeof retention === "string" ? FixedRetention.parse(retention) : null;
  if (parsed === null) return fail("its retention is missing");
  return parsed.ok ? ok({ retention: parsed.value }) : fail(`its retention ${parsed.error}`);
}

const SETTINGS_FILE: FileFormat<Values> = {
  empty: { retention: DEFAULT_RETENTION },
  encode: encodeSettings,
  parse: parseSettings,
};

/**
 * Settings of a data directory, which the command line may change while a server runs on it. If the file is missing
 * when it is opened, the caller supplies the values. A file that is damaged later changes nothing, so damage never
 * shortens the retention.
 */
export class Settings {
  /** Follows the file when it changes. */
  readonly retention: Retention;
  readonly #file: SharedFile<Values>;
  #inForce: Retention;

  private constructor(file: SharedFile<Values>, retention: Retention) {
    this.#file = file;
    this.#inForce = retention;
    const inForce = () => this.#inForce;
    this.retention = {
      get text() {
        return inForce().text;
      },
      startMs: (nowMs) => inForce().startMs(nowMs),
    };
  }

  static async open(
    dependencies: SharedFileDependencies,
    whenMissing: () => Promise<Retention>,
  ): Promise<Settings> {
    const file = await SharedFile.open(dependencies, SETTINGS_FILE);
    if (file.state === "missing") return new Settings(file, await whenMissing());
    // A damaged file may have said anything, so the safe guess is to delete nothing.
    return new Settings(file, file.state === "ok" ? file.value.retention : FixedRetention.FOREVER);
  }

  get state(): SharedFileState {
    return this.#file.state;
  }

  /** Never rejects: a problem with the file is reported by `state`. */
  async reload(): Promise<void> {
    await this.#file.reload();
    if (this.#file.state === "ok") this.#inForce = this.#file.value.retention;
  }

  /** Fails if another process has changed the retention since it was read: the caller confirmed the older value. */
  async setRetention(retention: Retention): Promise<Result<void, SharedFileError | SettingsChanged>> {
    const set = await this.#file.change<void, SettingsChanged>((values) => {
      const { text } = values.retention;
      if (this.#file.state === "ok" && text !== this.#inForce.text) return fail({ kind: "changed", text });
      return ok({ value: { ...values, retention }, answer: undefined });
    });
    if (set.ok) this.#inForce = retention;
    return set;
  }
}
