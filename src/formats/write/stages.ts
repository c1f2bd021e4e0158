import { joinBytes } from "../../lib/bytes/growing-bytes.ts";
import { profileIndex } from "../../model/location-fields.ts";
import type { RecordColumns } from "../../model/record-columns.ts";
import { RecordRows } from "./record-rows.ts";
import type { RecordWriter, WriteOptions } from "./record-writer.ts";
import { Simplifier } from "./simplify.ts";

/** What is done to records before they are written, the same in every format. */
interface RecordStages {
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

const USER = profileIndex("user_id");

/** Profiles whose redacted form is remembered. */
const PROFILES_MAX = 16_384;

/** Takes the names of devices and users out of records: devices are numbered in order of first appearance. */
class Redaction {
  readonly #devices = new Map<string, string>();
  readonly #profiles = new Map<string, string>();

  redact(records: RecordColumns): RecordColumns {
    return {
      ...records,
      deviceIds: records.deviceIds.map((deviceId) => this.#deviceOf(deviceId)),
      profiles: records.profiles.map((profile) => this.#profileOf(profile)),
    };
  }

  #deviceOf(deviceId: string): string {
    let name = this.#devices.get(deviceId);
    if (name === undefined) {
      name = `device-${this.#devices.size + 1}`;
      this.#devices.set(deviceId, name);
    }
    return name;
  }

  #profileOf(profile: string): string {
    let redacted = this.#profiles.get(profile);
    if (redacted === undefined) {
      if (this.#profiles.size === PROFILES_MAX) this.#profiles.clear();
      const texts: unknown[] = JSON.parse(profile);
      redacted = JSON.stringify(texts.with(USER, null));
      this.#profiles.set(profile, redacted);
    }
    return redacted;
  }
}
