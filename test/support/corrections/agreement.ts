import type { ManualClock } from "../../../src/model/time/clock.ts";
import { answerOf } from "../../reference/answer.ts";
import type { ReferenceCorrections } from "../../reference/corrections.ts";
import { findAnswerDifference, findDifference } from "../../reference/difference.ts";
import { pathOfQuery } from "../../reference/query.ts";
import type { ReferenceReport } from "../../reference/records.ts";
import type { Draws } from "../../unit/simulation/run/draws.ts";
import { answerBytes } from "../answers/answer-bytes.ts";
import { featuresOf } from "../answers/tile-features.ts";
import { createTestApp, type TestApp } from "../test-app.ts";
import { Follower } from "./follower.ts";
import { PATHS, QUERIES } from "./questions.ts";

/** Compares the answers of a service with those of the model. */
export class Agreement {
  readonly #model: ReferenceCorrections;
  readonly #draws: Draws;
  readonly #clock: ManualClock;
  readonly #follower = new Follower();
  /** A service that got these reports, which are corrected, and nothing else. */
  #twin: { readonly app: TestApp; readonly reports: readonly ReferenceReport[] } | null = null;

  constructor(model: ReferenceCorrections, draws: Draws, clock: ManualClock) {
    this.#model = model;
    this.#draws = draws;
    this.#clock = clock;
  }

  /** Asks as many questions of each list, and some others. */
  async expect(app: TestApp, questions: number, others: readonly string[]): Promise<void> {
    await this.#expectList(app);
    await this.#expectStream(app);
    const nowMs = this.#clock.nowMs();
    for (const query of this.#drawn(QUERIES, questions)) {
      const path = pathOfQuery(query);
      const difference = findAnswerDifference(
        await app.get(path),
        answerOf(this.#model.shown(), query, nowMs),
      );
      if (difference !== null) throw new Error(`${path}: ${difference}`);
    }
    const twin = await this.#upToDateTwin();
    for (const path of [...this.#drawn(PATHS, questions), ...others]) {
      const [actual, expected] = [await answerTo(app, path), await answerTo(twin, path)];
      if (actual !== expected) throw new Error(`${path} should be\n${expected}\nbut is\n${actual}`);
    }
    expectSame(app.faults, [], "internal errors");
  }

  async #expectList(app: TestApp): Promise<void> {
    const { body } = await app.get("/api/v1/corrections?limit=1000");
    const listed = body.corrections as { id: string; state: string; records: number }[];
    expectSame(
      listed.map(({ id, state, records }) => ({ id, state, records })),
      this.#model.list(),
      "the list of corrections",
    );
  }

  async #expectStream(app: TestApp): Promise<void> {
    const positions = await this.#follower.follow(app);
    const current = { endpoint: "appCurrent", parameters: { limit: 1000 } } as const;
    const { body } = answerOf(this.#model.shown(), current, this.#clock.nowMs());
    expectSame(positions, body.locations, "the positions of a client that follows the stream");
  }

  async #upToDateTwin(): Promise<TestApp> {
    const reports = this.#model.corrected();
    if (this.#twin?.reports === reports) return this.#twin.app;
    const app = await createTestApp({ clock: this.#clock });
    if (reports.length > 0) await app.store(reports);
    this.#twin = { app, reports };
    return app;
  }

  #drawn<Item>(items: readonly Item[], count: number): readonly Item[] {
    return Array.from({ length: count }, () => this.#draws.pick(items));
  }
}

async function answerTo(app: TestApp, path: string): Promise<string> {
  if (!path.includes(".mvt")) return answerBytes(app, path);
  const response = await app.fetch(path, { headers: { authorization: `Bearer ${app.keys.full}` } });
  const features = featuresOf(new Uint8Array(await response.arrayBuffer()));
  return [response.status, ...features].join("\n");
}

/** Compares values, of which numbers such as distances may differ by what another runtime rounds. */
export function expectSame(actual: unknown, expected: unknown, what: string): void {
  const difference = findDifference(actual, expected, [what]);
  if (difference !== null) throw new Error(difference);
}
