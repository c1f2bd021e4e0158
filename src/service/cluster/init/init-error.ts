import { nodesBucketName, sharedBucketName } from "../../../cluster/bucket-names.ts";

/** Why a directory can't move into a cluster, in words that say what to do. */
export class InitError extends Error {
  override readonly name = "InitError";
}

/** What is on the servers where a cluster begins anew under the same name. */
export function remainsOf(stream: string): string {
  return `the stream "${stream}" with the buckets "${nodesBucketName(stream)}" and "${sharedBucketName(stream)}"`;
}
