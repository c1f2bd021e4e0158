import type { Manifest } from "../../../src/archive/manifest.ts";
import { decodeStanding } from "../../../src/archive/standing-file.ts";
import { inOneTurn } from "../../../src/lib/schedule/steps.ts";
import { isErased } from "../../../src/model/erasure.ts";
import type { AppId, DeviceId, UserId } from "../../../src/model/ids.ts";
import type { StandingEntry } from "../../../src/model/standing-entry.ts";
import type { Files } from "../../../src/runtime/files.ts";
import type { LogEntry } from "../../../src/wal/entry/entry.ts";
import { scanLog } from "../../../src/wal/read-log.ts";
import { userOf } from "../../../src/wal/user-instants.ts";
import type { ReferenceCorrections } from "../../reference/corrections.ts";
import type { PlannedErasure } from "../../reference/erasures.ts";
import type { SimulationEngine } from "../../unit/simulation/run/engine.ts";
import { SIMULATED_DATA_DIR } from "../disk/mirrored-disk.ts";

/** An erasure that was made, and its entry of the log. */
type MadeErasure = Pick<PlannedErasure, "wanted" | "devices"> & { readonly sequence: number };

/** Decodes all files of a directory, and finds no record that was erased and not reported anew. */
export class ErasedFiles {
  readonly #model: ReferenceCorrections;
  readonly #engine: SimulationEngine;
  readonly #erasures: MadeErasure[] = [];

  constructor(model: ReferenceCorrections, engine: SimulationEngine) {
    this.#model = model;
    this.#engine = engine;
  }

  note(erasure: MadeErasure): void {
    this.#erasures.push(erasure);
  }

  /** All erasures are finished. */
  async search(files: Files, manifest: Manifest): Promise<void> {
    const instants = new Set(
      this.#model.reported().map(({ device_id, timestamp }) => `${timestamp} ${device_id}`),
    );
    const ids = new Set(this.#model.list().map(({ id }) => id));
    for await (const entry of scanLog(files, `${SIMULATED_DATA_DIR}/wal`))
      this.#searchEntry(entry, instants, ids);
    for (const path of await pathsBelow(files, `${SIMULATED_DATA_DIR}/archive`)) {
      if (path.endsWith(".parquet")) {
        for (const { deviceId, timestampMs } of await this.#engine.recordsOf(await files.read(path)))
          if (!instants.has(`${timestampMs} ${deviceId}`))
            throw new Error(`${path} has an erased record of ${deviceId} at ${timestampMs}`);
      }
    }
    const { standing } = manifest;
    if (standing === null) return;
    const path = `${SIMULATED_DATA_DIR}/archive/${standing.file}`;
    const expect = (entry: StandingEntry) => expectKnown(entry, ids, path);
    inOneTurn(decodeStanding(await files.read(path), path, expect));
  }

  #searchEntry(entry: LogEntry, instants: ReadonlySet<string>, ids: ReadonlySet<string>): void {
    if (entry.kind === "erasure") throw new Error(`the log has the finished erasure ${entry.sequence}`);
    if (entry.kind === "correction") expectKnown(entry, ids, "the log");
    if (entry.kind !== "reports") return;
    const { batch, sequence } = entry;
    for (let row = 0; row < batch.count; row++) {
      const deviceId = batch.texts[batch.device[row]!]!;
      const timeMs = batch.timestampMs[row]!;
      const user = userOf(batch, row);
      if (!instants.has(`${timeMs} ${deviceId}`))
        throw new Error(`the log has an erased report of ${deviceId} at ${timeMs}`);
      for (const { wanted, devices, ...erasure } of this.#erasures) {
        const range = {
          startMs: wanted.start ?? Number.NEGATIVE_INFINITY,
          endMs: wanted.end ?? Number.POSITIVE_INFINITY,
        };
        const deviceIds = [...(devices ?? [])] as DeviceId[];
        const scope = {
          appId: entry.appId as AppId,
          deviceIds,
          userId: (wanted.user_id ?? null) as UserId | null,
          range,
        };
        if (sequence < erasure.sequence && isErased(scope, deviceId, user, timeMs))
          throw new Error(`entry ${sequence} of the log has an erased report of ${deviceId} at ${timeMs}`);
      }
    }
  }
}

function expectKnown(entry: StandingEntry, ids: ReadonlySet<string>, where: string): void {
  if (entry.kind !== "correction" || entry.change.type === "number") return;
  if (!ids.has(entry.change.id)) throw new Error(`${where} has the erased correction ${entry.change.id}`);
}

async function pathsBelow(files: Files, directory: string): Promise<string[]> {
  const paths: string[] = [];
  for (const name of await files.list(directory)) {
    const path = `${directory}/${name}`;
    if (name.includes(".")) paths.push(path);
    else paths.push(...(await pathsBelow(files, path)));
  }
  return paths;
}
