import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { temporaryDataDir } from "../store/archived-directory.ts";
import type { DirectoryName } from "./shape.ts";

/** How much `make-directory.ts` puts into a directory. */
export interface DirectoryOrder {
  readonly name: DirectoryName;
  readonly dataDir: string;
  /** Of the attacker's app, in `crowd`. */
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
  /** A copy for one server, which `remove` takes away. */
  copy(): { readonly dataDir: string; remove(): void };
}

const PROGRAM = join(import.meta.dir, "make-directory.ts");

/** Fills a directory in a process of its own, whose memory goes with it. It is removed when this process ends. */
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
