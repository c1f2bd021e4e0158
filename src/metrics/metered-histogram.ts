import { Histogram } from "prom-client";
import type { Durations } from "./durations.ts";

/** Durations of one set of labels. */
export interface LabelledDurations {
  readonly labels: Readonly<Record<string, string>>;
  readonly durations: Durations;
}

/** A histogram that is counted elsewhere: at a scrape it shows what `durations` holds by then. */
export class MeteredHistogram extends Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #all: () => readonly LabelledDurations[];

  constructor(
    {
      name,
      help,
      registers,
    }: Pick<ConstructorParameters<typeof Histogram>[0], "name" | "help" | "registers">,
    all: () => readonly LabelledDurations[],
  ) {
    super({ name, help, ...(registers === undefined ? {} : { registers }) });
    this.#name = name;
    this.#help = help;
    this.#all = all;
  }

  /** What a registry asks of its metrics for the text. */
  async getForPromString() {
    const values = this.#all().flatMap((each) => valuesOf(this.#name, each));
    return { name: this.#name, help: this.#help, type: "histogram", values, aggregator: "sum" };
  }
}

/** Buckets count what is up to their bound, those before them included. */
function valuesOf(name: string, { labels, durations }: LabelledDurations) {
  const { boundsSeconds, counts, sumSeconds } = durations;
  let count = 0;
  const buckets = [...boundsSeconds, "+Inf"].map((le, bucket) => {
    count += counts[bucket]!;
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sumSeconds },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
