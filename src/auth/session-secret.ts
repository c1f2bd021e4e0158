import {
  type FileFormat,
  SharedFile,
  type SharedFileDependencies,
  type SharedFileError,
  type SharedFileState,
} from "../directory/shared-file.ts";
import { assert } from "../lib/assert.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import { SECRET_BYTES, Signer } from "./signer.ts";

/** Null where there is none yet. */
const SECRET_FILE: FileFormat<Signer | null> = {
  empty: null,
  encode(signer) {
    assert(signer !== null, "a secret is written once it is made");
    return signer.secret;
  },
  parse: (bytes) =>
    bytes.length === SECRET_BYTES ? ok(new Signer(bytes)) : fail(`it must have ${SECRET_BYTES} bytes`),
};

/**
 * What signs the sessions of a data directory: random bytes in a file, made where there is none. Whoever has them can
 * sign in as any key, so they are in no backup. Sessions end with the file that signed them.
 */
export class SessionSecret {
  readonly #file: SharedFile<Signer | null>;

  private constructor(file: SharedFile<Signer | null>) {
    this.#file = file;
  }

  static async open(dependencies: SharedFileDependencies): Promise<SessionSecret> {
    return new SessionSecret(await SharedFile.open(dependencies, SECRET_FILE));
  }

  /** Where the file can't be used nobody is signed in. */
  get state(): SharedFileState {
    return this.#file.state;
  }

  /** Null where there is none, or none that can be used. */
  get signer(): Signer | null {
    return this.#file.value;
  }

  /** The signer, made where there is none. */
  async obtain(): Promise<Result<Signer, SharedFileError>> {
    const { signer } = this;
    if (signer !== null) return ok(signer);
    return this.#file.change<Signer, never>((found) => {
      const made = found ?? Signer.random();
      return ok({ value: made, answer: made });
    });
  }

  reload(): Promise<void> {
    return this.#file.reload();
  }

  /** Like `reload`, but a cluster's servers are asked. */
  refresh(): Promise<void> {
    return this.#file.refresh();
  }
}
