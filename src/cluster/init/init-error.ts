import { nodesBucketName, sharedBucketName } from "../buckets.ts";
import type { Stream } from "../stream/stream.ts";

/** A directory can't move into a cluster; the message says what to do. */
export class InitError extends Error {
  override readonly name = "InitError";
}

/** Names what to delete on the servers before a cluster of the same name can be created again. */
export function remainsOf(stream: string): string {
  return (
    `the stream "${stream}" with the buckets "${nodesBucketName(stream)}" and ` +
    `"${sharedBucketName(stream)}"`
  );
}

/** Another directory was moved into the cluster, or this one has changed since its move began. */
export function foreign({ name }: Pick<Stream, "name">): InitError {
  return new InitError(
    `The stream "${name}" belongs to another directory, or to an earlier state of this one. Nothing was changed. ` +
      `To start over, delete ${remainsOf(name)} from the servers, if no other node uses them, and run the command ` +
      "again.",
  );
}
