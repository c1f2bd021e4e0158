import { createMessageReader } from "../../../src/cluster/log/group-message.ts";
import { createReferenceRecords, type ReferenceRecords } from "../../reference/records.ts";
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
  /** The records that every node must have, by app. */
  readonly models: ReadonlyMap<string, ReferenceRecords>;
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
  const models = new Map(apps.map((appId) => [appId, createReferenceRecords(appId)]));
  const reader = createMessageReader(name);
  const answered = new Map(
    posts.flatMap((post) => (post.answer === null ? [] : [[post.answer.sequence, post]])),
  );
  const unanswered = posts.filter(({ answer }) => answer === null).map(textOf);
  let broken: string | null = null;
  for (const { number, bytes } of history) {
    for (const entry of reader.entries(number, bytes)) {
      if (entry.kind !== "reports") continue;
      const { sequence, appId } = entry;
      const reports = plainReports(entry.batch);
      const text = textOf({ appId, reports });
      const accepted = models.get(appId)!.report(reports);
      const post = answered.get(sequence);
      answered.delete(sequence);
      if (post === undefined) {
        const sent = unanswered.indexOf(text);
        if (sent < 0) broken ??= `entry ${sequence} was not sent, or is there twice: ${text}`;
        else unanswered.splice(sent, 1);
      } else if (textOf(post) !== text) {
        broken ??= `entry ${sequence} is ${text}, and was answered for ${textOf(post)}`;
      } else {
        broken ??= wrongCount(post, countsExactly ? accepted : null);
      }
    }
  }
  for (const post of answered.values()) broken ??= `acknowledged, and missing: ${textOf(post)}`;
  return { models, broken };
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
