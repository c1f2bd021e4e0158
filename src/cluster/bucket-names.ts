/* What the buckets of a stream are called. */

/** What each node tells the others of itself. */
export function nodesBucketName(stream: string): string {
  return `${stream}-nodes`;
}

/** The keys, settings, secret and pass phrases of the cluster, which are nowhere else. */
export function sharedBucketName(stream: string): string {
  return `${stream}-shared`;
}

/** Sign-in codes that were used. */
export function codesBucketName(stream: string): string {
  return `${stream}-codes`;
}
