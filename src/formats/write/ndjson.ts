import { CLOSE_BRACE, LF, OPEN_BRACE } from "../../lib/text/ascii.ts";
import { JsonWriter } from "../../lib/text/json-writer.ts";
import { JsonMembers } from "./json-members.ts";
import { NOTHING, PIECE_BYTES_EXPECTED } from "./piece.ts";
import type { RecordWriter, WriteOptions } from "./record-writer.ts";

/** A record a line, all that it carries: `import` makes the same records of it again. */
export function createNdjsonWriter({ zone }: WriteOptions): RecordWriter {
  const json = new JsonWriter(PIECE_BYTES_EXPECTED);
  const members = new JsonMembers({ zone, showsTime: false, shows: () => true });
  return {
    begin: () => NOTHING,
    write(records) {
      json.clear();
      for (let row = 0; row < records.count; row++) {
        json.byte(OPEN_BRACE);
        members.write(json, records, row);
        json.byte(CLOSE_BRACE);
        json.byte(LF);
      }
      return json.written();
    },
    end: () => NOTHING,
  };
}
