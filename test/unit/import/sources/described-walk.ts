import { createHash } from "node:crypto";
import { createSources } from "../../../../src/import/sources/sources.ts";
import { createNodeInputs } from "../../../../src/runtime/node-inputs.ts";

/** What an import is to walk through, as text that a process can be handed. */
export interface WalkRequest {
  readonly paths: readonly string[];
  readonly spoolDirectory: string;
  readonly unpackedBytesMax?: number;
  /** How often it is walked through; the last time counts. */
  readonly times?: number;
  /** Leaves out of the answer what was left alone. */
  readonly isBrief?: boolean;
  /** As which user, where this one is root. */
  readonly uid?: number;
}

/** Something that a walk came across, in words. */
export interface Described {
  readonly label: string;
  readonly name?: string;
  readonly folders?: string;
  /** What it holds if that is short, else how many bytes and a hash of them. */
  readonly content?: string;
  /** Why it can't be read to its end, or at all, or why it was left alone. */
  readonly failure?: string;
  readonly leftAlone?: string;
  readonly isNamed: boolean;
  readonly packedBytes: number | null;
  readonly packedBytesRead?: number;
  readonly identity?: string | null;
}

const SHORT_BYTES = 200;

export async function describeWalk(request: WalkRequest): Promise<Described[]> {
  const { unpackedBytesMax = 1e9, times = 1 } = request;
  const { signal } = new AbortController();
  const sources = createSources({ ...request, inputs: createNodeInputs(), unpackedBytesMax, signal });
  let described: Described[] = [];
  for (let time = 0; time < times; time++) {
    described = [];
    for await (const found of sources.walk()) {
      const { label, isNamed, packedBytes } = found.kind === "file" ? found.source : found.where;
      const where = { label, isNamed, packedBytes };
      if (found.kind === "failed") described.push({ ...where, failure: found.reason });
      else if (found.kind === "left_alone") {
        if (request.isBrief !== true) described.push({ ...where, leftAlone: found.what.kind });
      } else {
        const { source } = found;
        let packedBytesRead = 0;
        const onRead = (bytesRead: number) => {
          packedBytesRead = bytesRead;
        };
        const read = await contentOf(source.pieces(onRead));
        const [name, folders, identity] = [source.name, source.folders.join("/"), await source.identity()];
        described.push({ ...where, name, folders, identity, ...read, packedBytesRead });
      }
    }
  }
  await sources.close();
  return described;
}

async function contentOf(pieces: AsyncIterable<Uint8Array>): Promise<{ content: string; failure?: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  let start = "";
  let failure: { failure?: string } = {};
  try {
    for await (const piece of pieces) {
      if (bytes < SHORT_BYTES) start += new TextDecoder("latin1").decode(piece.subarray(0, SHORT_BYTES));
      hash.update(piece);
      bytes += piece.length;
    }
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "FormatError") throw error;
    failure = { failure: error.message };
  }
  const content = bytes <= SHORT_BYTES ? start : `${bytes} bytes ${hash.digest("hex").slice(0, 8)}`;
  return { content, ...failure };
}
