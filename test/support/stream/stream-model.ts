import { MessageReader } from "../../../src/cluster/log/group-message.ts";
import type { CorrectionTarget } from "../../../src/model/correction.ts";
import type { CorrectionEntry, CorrectionPiece } from "../../../src/model/correction-entry.ts";
import {
  createReferenceCorrections,
  type ReferenceCorrections,
  type WantedCorrection,
} from "../../reference/corrections.ts";
import {
  createReferenceRecords,
  type ReferenceRecords,
  type ReferenceReport,
} from "../../reference/records.ts";
import type { Report } from "../reports/batches.ts";
import { plainReports } from "../reports/plain-reports.ts";
import type { SimulatedServers } from "./simulated-servers.ts";

/** A client's request to a node. */
export interface SentPost {
  readonly appId: string;
  readonly reports: readonly Report[];
  /** Null if the node did not acknowledge it. */
  answer: Answer | null;
}

interface Answer {
  readonly accepted: number;
  readonly duplicates: number;
  readonly sequence: number;
}

export interface LaidStream {
  /** The records that every node must show, by app. */
  readonly models: ReadonlyMap<string, ReferenceRecords>;
  /** The corrections that every node must have, by app. */
  readonly corrections: ReadonlyMap<string, ReferenceCorrections>;
  /** A wrong answer, or an entry without a sender; null if there is none. */
  readonly broken: string | null;
}

/**
 * Applies all messages of a stream to the reference model, in order, and compares the answers. If an archive has some
 * records, nodes report only that all were accepted.
 */
export function layStream(
  { name, history }: SimulatedServers,
  apps: readonly string[],
  posts: readonly SentPost[],
  countsExactly = true,
): LaidStream {
  const reported = new Map(apps.map((appId) => [appId, createReferenceRecords(appId)]));
  const corrected = new Map(apps.map((appId) => [appId, new StreamCorrections(appId)]));
  const reader = new MessageReader(name);
  const answered = new Map(
    posts.flatMap((post) => (post.answer === null ? [] : [[post.answer.sequence, post]])),
  );
  const unanswered = posts.filter(({ answer }) => answer === null).map(textOf);
  /** All reports so far, which the maker of a correction sends once more if they came while it was made. */
  const earlier = new Set<string>();
  const repeatsOnly = (appId: string, reports: SentPost["reports"]) =>
    reports.every((report) => earlier.has(textOf({ appId, reports: [report] })));
  let broken: string | null = null;
  for (const { number, bytes } of history) {
    for (const entry of reader.entries(number, bytes)) {
      if (entry.kind === "correction") corrected.get(entry.appId)!.apply(entry);
      if (entry.kind !== "reports") continue;
      const { sequence, appId } = entry;
      const reports = plainReports(entry.batch);
      const text = textOf({ appId, reports });
      const accepted = reported.get(appId)!.report(reports);
      corrected.get(appId)!.model.report(reports as unknown as readonly ReferenceReport[]);
      const post = answered.get(sequence);
      answered.delete(sequence);
      if (post === undefined) {
        const sent = unanswered.indexOf(text);
        const isRepeated = corrected.get(appId)!.model.list().length > 0 && repeatsOnly(appId, reports);
        if (sent < 0 && !isRepeated) broken ??= `entry ${sequence} was not sent, or is there twice: ${text}`;
        else if (sent >= 0) unanswered.splice(sent, 1);
      } else if (textOf(post) !== text) {
        broken ??= `entry ${sequence} is ${text}, and was answered for ${textOf(post)}`;
      } else {
        broken ??= wrongCount(post, countsExactly ? accepted : null);
      }
      for (const report of reports) earlier.add(textOf({ appId, reports: [report] }));
    }
  }
  for (const post of answered.values()) broken ??= `acknowledged, and missing: ${textOf(post)}`;
  const corrections = new Map([...corrected].map(([appId, { model }]) => [appId, model]));
  const models = new Map([...corrections].map(([appId, model]) => [appId, model.shown()]));
  return { models, corrections, broken };
}

/** An app's corrections as entries of a stream make them. */
class StreamCorrections {
  readonly model: ReferenceCorrections;
  #number = 0;
  readonly #pieces = new Map<string, CorrectionPiece[]>();

  constructor(appId: string) {
    this.model = createReferenceCorrections(appId);
  }

  /** An entry that does not name the number of the one before has no effect, nor has one that lacks a piece. */
  apply({ previous, change }: CorrectionEntry): void {
    if (previous !== this.#number) return;
    if (change.type === "undo") {
      const isActive = this.model.list().some(({ id, state }) => id === change.id && state === "active");
      if (!isActive) return;
      this.model.undo(change.id);
    } else if (change.type === "assign") {
      const { deviceId: device_id, target, records } = change.correction;
      const wanted = { action: "assign", device_id, ...changesOf("assign", target) } as const;
      // How many they were counts; it touches later ones all the same.
      const counted = new Array<ReferenceReport>(records);
      this.model.make(change.id, { wanted, records: counted });
    } else if (change.type === "piece") {
      const pieces = [...(this.#pieces.get(change.id) ?? []), change];
      this.#pieces.set(change.id, pieces);
      if (change.last === null || pieces.length < change.pieces) return;
      const { action, deviceId: device_id, target } = change.last.correction;
      const keys = pieces.flatMap(({ timestampMs }) =>
        [...timestampMs].map((timestamp) => ({ device_id, timestamp })),
      );
      const rows = pieces.flatMap((piece) => (piece.rows === null ? [] : plainReports(piece.rows)));
      const records = target === null ? keys : keys.map((key, at) => ({ ...rows[at], ...key }));
      const timestamps = keys.map(({ timestamp }) => timestamp);
      const wanted = { action, device_id, timestamps, ...changesOf(action, target) };
      this.model.make(change.id, { wanted, records });
    } else return;
    this.#number++;
  }
}

/** The members of a request that has this target. */
function changesOf(
  action: WantedCorrection["action"],
  target: CorrectionTarget | null,
): Partial<WantedCorrection> {
  if (target === null) return {};
  const { deviceId: to_device_id, userId, byMs: by_ms, position } = target;
  if (action === "assign") return { to_device_id, ...(userId === null ? {} : { to_user_id: userId }) };
  if (position === null) return { by_ms };
  const { latitude, longitude, accuracyMeters } = position;
  return {
    ...{ by_ms, latitude, longitude },
    ...(accuracyMeters === null ? {} : { horizontal_accuracy: accuracyMeters }),
  };
}

function wrongCount({ reports, answer }: SentPost, expected: number | null): string | null {
  const { accepted, duplicates, sequence } = answer!;
  if (accepted + duplicates === reports.length && (expected === null || accepted === expected)) return null;
  return `entry ${sequence} has ${expected ?? "some"} of ${reports.length} that change anything, not ${accepted} and ${duplicates}`;
}

function textOf({ appId, reports }: Pick<SentPost, "appId" | "reports">): string {
  const sorted = reports.map((report) => Object.entries(report).sort(([a], [b]) => (a < b ? -1 : 1)));
  return `${appId} ${JSON.stringify(sorted)}`;
}
