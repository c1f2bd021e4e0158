import { join } from "node:path";
import type { Database } from "../../archive/duckdb/database.ts";
import { findManifest } from "../../archive/manifest.ts";
import { decodeStanding } from "../../archive/standing-file.ts";
import { parseKeyFile } from "../../auth/key-file.ts";
import { parsePassPhraseFile } from "../../auth/pass-phrases.ts";
import type { ErasureSubject } from "../../directory/erasure-ledger.ts";
import { directoryPaths } from "../../directory/paths.ts";
import { inTurns } from "../../lib/schedule/steps.ts";
import type { AppId } from "../../model/ids.ts";
import type { StandingEntry } from "../../model/standing-entry.ts";
import { type Files, readIfThere } from "../../runtime/files.ts";
import { decodeMessageFile, isInQuarantine } from "../../service/quarantine/message-file.ts";
import type { LogEntry, ReportsEntry } from "../../wal/entry/entry.ts";
import { inspectLog } from "../../wal/read-log.ts";
import { userOf } from "../../wal/user-instants.ts";
import { wantedParts } from "./source.ts";

/* A ledger of erasures has only hashes of ids. So whom it is about is found by hashing the ids that a directory has. */

export interface KnownSubjectsOptions {
  readonly files: Files;
  readonly dataDir: string;
  /** Opens a database that may read the archive's files. */
  openDatabase(): Promise<Database>;
}

/** Every device and user that a data directory has anything of, each once. Rejects if DuckDB can't read a part. */
export async function findSubjects(options: KnownSubjectsOptions): Promise<ErasureSubject[]> {
  const { files, dataDir } = options;
  const { log, quarantine, keys, passPhrases } = directoryPaths(dataDir);
  const subjects = new Subjects();
  await inspectLog(files, log, (entry) => subjects.addEntry(entry));
  await addArchived(options, subjects);
  for (const name of await files.list(quarantine))
    if (isInQuarantine(name)) subjects.addMessage(await files.read(join(quarantine, name)));
  const keyFile = parseKeyFile((await readIfThere(files, keys)) ?? new Uint8Array());
  for (const { appId, deviceId, userId, view } of keyFile.ok ? keyFile.value : []) {
    subjects.add("user", appId, userId);
    for (const id of [deviceId, ...(view?.deviceIds ?? [])]) subjects.add("device", appId, id);
  }
  const phraseFile = parsePassPhraseFile((await readIfThere(files, passPhrases)) ?? new Uint8Array());
  for (const { appId, deviceId } of phraseFile.ok ? phraseFile.value : [])
    subjects.add("device", appId, deviceId);
  return subjects.all();
}

async function addArchived(
  { files, dataDir, openDatabase }: KnownSubjectsOptions,
  subjects: Subjects,
): Promise<void> {
  const { manifest } = await findManifest(files, directoryPaths(dataDir).archive);
  const paths = wantedParts(manifest).map(({ file }) => join(dataDir, file));
  const parts = paths.filter((path) => path.endsWith(".parquet"));
  for (const path of paths.filter((each) => !each.endsWith(".parquet")))
    await inTurns(decodeStanding(await files.read(path), path, (entry) => subjects.addEntry(entry)));
  if (parts.length === 0) return;
  const database = await openDatabase();
  try {
    const connection = await database.connect();
    for (const [kind, column] of [
      ["device", "device_id"],
      ["user", "user_id"],
    ] as const) {
      const sql = `SELECT DISTINCT app_id, ${column}
        FROM read_parquet($parts, hive_partitioning = false, union_by_name = true) WHERE ${column} IS NOT NULL`;
      for await (const rows of connection.stream(sql, { parts })) {
        const ids = rows.texts(1);
        for (const [row, appId] of rows.texts(0).entries()) subjects.add(kind, appId as AppId, ids[row]!);
      }
    }
    connection.close();
  } finally {
    database.close();
  }
}

class Subjects {
  readonly #byKey = new Map<string, ErasureSubject>();

  add(kind: ErasureSubject["kind"], appId: AppId, id: string | null): void {
    if (id !== null && id !== "") this.#byKey.set(`${kind} ${appId} ${id}`, { kind, appId, id });
  }

  all(): ErasureSubject[] {
    return [...this.#byKey.values()];
  }

  addEntry(entry: LogEntry | StandingEntry): void {
    if (entry.kind === "reports") this.#addReports(entry);
    else if (entry.kind === "device_profile") this.add("device", entry.appId, entry.deviceId);
    else if (entry.kind === "refused_piece") this.addMessage(entry.bytes);
    else if (entry.kind === "erasure") {
      const { deviceIds, userId } = entry.erasure;
      for (const id of deviceIds) this.add("device", entry.appId, id);
      this.add("user", entry.appId, userId);
    } else if (entry.kind === "watch") {
      const rules = entry.draft?.terms.rules;
      for (const id of rules?.devices ?? []) this.add("device", entry.appId, id);
      for (const id of rules?.users ?? []) this.add("user", entry.appId, id);
    } else if (entry.kind === "webhook") {
      for (const id of entry.webhook?.devices ?? []) this.add("device", entry.appId, id);
      for (const id of entry.webhook?.users ?? []) this.add("user", entry.appId, id);
    } else if (entry.kind === "events" || entry.kind === "deliveries") {
      for (const { deviceId, userId } of entry.kind === "events" ? entry.events : entry.deliveries) {
        this.add("device", entry.appId, deviceId);
        this.add("user", entry.appId, userId);
      }
    } else if (entry.kind === "correction") {
      const { change, appId } = entry;
      const last = change.type === "piece" ? change.last : change.type === "assign" ? change : null;
      this.add("device", appId, last?.correction.deviceId ?? null);
      this.add("device", appId, last?.correction.target?.deviceId ?? null);
      this.add("user", appId, last?.correction.target?.userId ?? null);
    }
  }

  #addReports({ appId, batch }: ReportsEntry): void {
    for (const device of new Set(batch.device.subarray(0, batch.count)))
      this.add("device", appId, batch.texts[device]!);
    for (let row = 0; row < batch.count; row++) this.add("user", appId, userOf(batch, row));
  }

  /** Adds whom a message of the quarantine may be from. */
  addMessage(bytes: Uint8Array): void {
    const message = decodeMessageFile(bytes);
    if (message === null) return;
    const { appId, deviceId, device, user, basicUser } = message;
    for (const id of [deviceId, device]) this.add("device", appId, id);
    for (const id of [user, basicUser]) this.add("user", appId, id);
  }
}
