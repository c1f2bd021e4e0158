import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { temporaryDataDir } from "../store/archived-directory.ts";
import type { DirectoryName } from "./shape.ts";

/** The amounts of data for `make-directory.ts`. */
export interface DirectoryOrder {
  readonly name: DirectoryName;
  readonly dataDir: string;
  /** The attacker's devices in `crowd`. */
  readonly devices: number;
  readonly lateRows: number;
  readonly archivedRowsADay: number;
}

export interface Keys {
  readonly bystander: string;
  readonly attacker: string;
  readonly operator: string;
}

export interface Directory {
  readonly keys: Keys;
  /** Creates a copy for one server; `remove` deletes it. */
  copy(): { readonly dataDir: string; remove(): void };
}

const PROGRAM = join(import.meta.dir, "make-directory.ts");

/** Fills a directory in a separate process, whose memory is freed. The directory is removed when this process ends. */
export async function makeDirectory(order: Omit<DirectoryOrder, "dataDir">): Promise<Directory> {
  const dataDir = temporaryDataDir(`fairness-${order.name}`);
  const argv = [process.execPath, PROGRAM, JSON.stringify({ ...order, dataDir })];
  const child = Bun.spawn(argv, { stdout: "pipe", stderr: "inherit" });
  const said = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`the directory ${order.name} could not be made`);
  return {
    keys: JSON.parse(said) as Keys,
    copy() {
      const copy = mkdtempSync(join(tmpdir(), "wherehouse-fairness-"));
      cpSync(dataDir, copy, { recursive: true });
      return { dataDir: copy, remove: () => rmSync(copy, { recursive: true, force: true }) };
    },
  };
}
