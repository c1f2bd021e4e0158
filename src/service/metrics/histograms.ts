import { AggregatorRegistry, type PrometheusContentType, type Registry } from "prom-client";
import type { Durations } from "./durations.ts";

/** Durations of one set of labels. */
export interface LabelledDurations {
  readonly labels: Readonly<Record<string, string>>;
  readonly durations: Durations;
}

/** A histogram that is counted in `Durations`, as a scrape names it. */
export interface CountedHistogram {
  readonly name: string;
  readonly help: string;
  /** Looked at with each scrape. */
  all(): readonly LabelledDurations[];
}

/**
 * The histograms as they are now. One of prom-client's own can only be told a duration at a time; what was counted
 * elsewhere it takes as JSON, as processes of a cluster hand it to the one that is scraped.
 */
export function registryOf(histograms: readonly CountedHistogram[]): Registry {
  return AggregatorRegistry.aggregate<PrometheusContentType>([
    histograms.map(({ name, help, all }) => ({
      name,
      help,
      type: "histogram",
      aggregator: "first",
      values: all().flatMap((each) => valuesOf(name, each)),
    })),
  ]);
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
