/** The body of a request, of Standard Webhooks. Ids have at most 128 characters, so it is far from their 20 kB. */
export function bodyOf(type: string, timestampMs: number, data: object): string {
  return JSON.stringify({ type, timestamp: new Date(timestampMs).toISOString(), data });
}
