import { joinBytes } from "../../../lib/bytes/growing-bytes.ts";
import type { RecordColumns } from "../../../model/record-columns.ts";
import type { RecordWriter, WriteOptions } from "../record-writer.ts";
import { RecordRows } from "./record-rows.ts";
import { Redaction } from "./redact.ts";
import { Simplifier } from "./simplify.ts";

/** What is done to records before they are written, the same in every format. */
export interface RecordStages {
  /** The records, or those of them and of earlier ones that are settled. */
  take(records: RecordColumns): RecordColumns;
  /** What was held back; nothing follows. */
  end(): RecordColumns;
}

/** Null where records are written as they are. */
function createStages({ redact, simplifyMeters, gapMs }: WriteOptions): RecordStages | null {
  if (!redact && simplifyMeters === null) return null;
  const redaction = redact ? new Redaction() : null;
  const simplifier = simplifyMeters === null ? null : new Simplifier(simplifyMeters, gapMs);
  const redacted = (records: RecordColumns) => redaction?.redact(records) ?? records;
  return {
    take: (records) => redacted(simplifier?.take(records) ?? records),
    end: () => redacted(simplifier?.end() ?? new RecordRows().columns()),
  };
}

/** A writer that is handed records before these stages. */
export function staged(writer: RecordWriter, options: WriteOptions): RecordWriter {
  const stages = createStages(options);
  if (stages === null) return writer;
  return {
    begin: () => writer.begin(),
    write: (records) => writer.write(stages.take(records)),
    end: () => joinBytes([writer.write(stages.end()).slice(), writer.end()]),
  };
}
