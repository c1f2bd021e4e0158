import { joinBytes } from "../../lib/bytes/growing-bytes.ts";
import { profileIndex } from "../../model/location-fields.ts";
import type { RecordColumns } from "../../model/record-columns.ts";
import { RecordRows } from "./record-rows.ts";
import type { RecordWriter, WriteOptions } from "./record-writer.ts";
import { Simplifier } from "./simplify.ts";

/** Steps before records are written, the same in every format. */
interface RecordStages {
  /** Returns records that are ready, of these and of earlier calls. */
  take(records: RecordColumns): RecordColumns;
  /** Returns the remaining records at the end. */
  end(): RecordColumns;
}

/** Returns null if records are written unchanged. */
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

/** Wraps a writer with these steps. */
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

/** The maximum number of cached profiles. */
const PROFILES_MAX = 16_384;

/** Removes the names of devices and users from records: devices are numbered by first appearance. */
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
