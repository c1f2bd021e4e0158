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

/** What a data directory is set to. */
interface Values {
  readonly retention: Retention;
}

/** Another process has set the retention meanwhile, to this. */
export interface SettingsChanged {
  readonly kind: "changed";
  readonly text: string;
}

/** A file of another version is left alone. */
const FORMAT_VERSION = 1;

export function encodeSettings({ retention }: Values): Uint8Array {
  const members = { version: FORMAT_VERSION, retention: retention.text };
  return new TextEncoder().encode(`${JSON.stringify(members, null, 2)}\n`);
}

/** What the file says, or what is wrong with it. */
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
 * Settings of a data directory, which the command line may change while a server runs on it. Where the file is not
 * there when it is opened, whoever opens it says what they are. What is wrong with it later changes nothing: nobody
 * meant to shorten the retention by it.
 */
export class Settings {
  /** As the file says; it follows what the file says later. */
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
    whereMissing: () => Promise<Retention>,
  ): Promise<Settings> {
    const file = await SharedFile.open(dependencies, SETTINGS_FILE);
    if (file.state === "missing") return new Settings(file, await whereMissing());
    // Of a file that can't be used nobody knows what it said: nothing is given up by guess.
    return new Settings(file, file.state === "ok" ? file.value.retention : FixedRetention.FOREVER);
  }

  get state(): SharedFileState {
    return this.#file.state;
  }

  /** Reads the file again. Never fails: what is wrong with the file is its `state`. */
  async reload(): Promise<void> {
    await this.#file.reload();
    if (this.#file.state === "ok") this.#inForce = this.#file.value.retention;
  }

  /** Not where somebody else has set another one since it was read: what would go was counted by that. */
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
