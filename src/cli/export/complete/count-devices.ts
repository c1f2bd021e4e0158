import type { DeviceId } from "../../../model/ids.ts";

/* The devices of an NDJSON export, without parsing its records. */

const START = '{"device_id":';
/** The end of a device id: inside of a JSON text, no unescaped quotation marks follow each other like this. */
const END = '","timestamp":';

export interface DeviceCounts {
  readonly records: number;
  readonly deviceIds: readonly DeviceId[];
}

export async function countDevices(
  pieces: AsyncIterable<Uint8Array>,
  onPiece: (records: number) => void,
): Promise<DeviceCounts> {
  const decoder = new TextDecoder();
  /** Ids as JSON texts: few are parsed, and each once. */
  const texts = new Set<string>();
  let records = 0;
  let rest = "";
  for await (const piece of pieces) {
    const text = rest + decoder.decode(piece, { stream: true });
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      texts.add(text.slice(start + START.length, text.indexOf(END, start) + 1));
      records++;
      start = end + 1;
    }
    rest = text.slice(start);
    onPiece(records);
  }
  return { records, deviceIds: [...texts].map((text) => JSON.parse(text) as DeviceId) };
}
