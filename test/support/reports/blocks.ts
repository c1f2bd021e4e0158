import { type Blocks, ErasureLedger, type ErasureSubject } from "../../../src/directory/erasure-ledger.ts";
import { directoryPaths } from "../../../src/directory/paths.ts";
import { createSimulatedFiles } from "../disk/simulated-files.ts";

export const NO_BLOCKS: Blocks = { blocked: () => null };

/** Blocks devices and users of every app by their ids. */
export function blocksOf(...ids: readonly string[]): Blocks {
  return {
    blocked: () => ({
      isBlocked: (deviceId, userId) => ids.includes(deviceId) || (userId !== null && ids.includes(userId)),
    }),
  };
}

/** A disk with the ledger of a data directory that blocks these. */
export async function filesWithBlocks(subjects: readonly ErasureSubject[]) {
  const files = createSimulatedFiles();
  await files.makeDirectory("/data");
  const ledger = await ErasureLedger.open(files, directoryPaths("/data").erasures);
  const range = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
  for (const [index, subject] of subjects.entries())
    await ledger.add({ id: `e_${index}`, subject, ...range, sequence: 1, createdMs: 1, block: true });
  return files;
}
