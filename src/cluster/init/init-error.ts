import { nodesBucketName, sharedBucketName } from "../buckets.ts";
import type { Stream } from "../stream/stream.ts";

/** Why a directory can't move into a cluster, in words that say what to do. */
export class InitError extends Error {
  override readonly name = "InitError";
}

/** What is on the servers where a cluster begins anew under the same name. */
export function remainsOf(stream: string): string {
  return (
    `the streams "${stream}" and "${stream}-quarantine" with the buckets "${nodesBucketName(stream)}" and ` +
    `"${sharedBucketName(stream)}"`
  );
}

/** Another directory has moved in, or this one has changed since it began to. */
export function foreign({ name }: Pick<Stream, "name">): InitError {
  return new InitError(
    `The stream "${name}" is of another directory, or of this one before it changed, and nothing is changed here. ` +
      `To begin anew, delete ${remainsOf(name)} from the servers, if no other node has them, and give the command ` +
      "again.",
  );
}
