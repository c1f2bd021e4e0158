import { join } from "node:path";
import { FileError, type Files, ignoreFileError } from "../../runtime/files.ts";
import type { StartHelper } from "../../runtime/helper/helper.ts";
import type { CopySqlite } from "../../runtime/sqlite.ts";
import { eventPaths } from "../../service/watching/open-events.ts";

/** The database of events changes all the time, so a node that joins gets a copy of it that was made for it. */
export class EventCopies {
  readonly #files: Files;
  readonly #copySqlite: CopySqlite;
  readonly #paths: ReturnType<typeof eventPaths>;
  #made = 0;

  constructor(files: Files, directory: string, copySqlite: CopySqlite) {
    this.#files = files;
    this.#copySqlite = copySqlite;
    this.#paths = eventPaths(directory);
  }

  exists(): Promise<boolean> {
    return this.#files.exists(this.#paths.database);
  }

  /** Makes a copy, and returns its path. */
  async make(): Promise<string> {
    const { database, copies } = this.#paths;
    if (!(await this.exists())) throw new FileError("copy", database, "ENOENT");
    await this.#files.makeDirectory(copies);
    const path = join(copies, `${++this.#made}.sqlite`);
    try {
      await this.#files.removeAll(path); // A process before this one may have left it.
      await this.#copySqlite(database, path);
      return path;
    } catch (error) {
      await this.drop(path);
      throw error;
    }
  }

  /** Never rejects: the next start removes what is left. */
  async drop(path: string): Promise<void> {
    await this.#files.removeAll(path).catch(ignoreFileError);
  }
}

/** Copies a database in a process of its own, since that may take seconds. */
export function copySqliteByHelper(startHelper: StartHelper, script: URL): CopySqlite {
  return (from, to) =>
    new Promise((resolve, reject) => {
      let isDone = false;
      const helper = startHelper(script, {
        onMessage() {
          isDone = true;
          helper.end();
        },
        onEnd(reason) {
          if (isDone) resolve();
          else reject(new FileError("copy", from, "EIO", new Error(reason)));
        },
      });
      helper.send([from, to]);
    });
}
