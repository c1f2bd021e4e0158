import { AggregatorRegistry, Counter, Gauge, type PrometheusContentType, type Registry } from "prom-client";
import type { Durations } from "./meters.ts";

/*
 * Metrics as a scrape shows them: numbers that are looked at when it comes, and histograms that are counted elsewhere.
 */

/** A number of the scrape, or several told apart by labels. Names end in their unit, `_total` where they only rise. */
export type Metric =
  | {
      readonly name: string;
      readonly help: string;
      /** Looked at with each scrape; null where it is not known yet. */
      look(): number | null | Promise<number | null>;
    }
  | {
      readonly name: string;
      readonly help: string;
      readonly label: string;
      /** By the value of the label. */
      lookAll(): CountsByLabel | Promise<CountsByLabel>;
    }
  | {
      readonly name: string;
      readonly help: string;
      readonly labels: readonly string[];
      lookSamples(): readonly Sample[];
    };

type CountsByLabel = Readonly<Record<string, number>>;

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export function addMetric(registry: Registry, metric: Metric): void {
  const { name, help } = metric;
  new (name.endsWith("_total") ? Counter : Gauge)({
    name,
    help,
    registers: [registry],
    labelNames: labelsOf(metric),
    async collect() {
      this.reset();
      if ("look" in metric) {
        const value = await metric.look();
        if (value === null) this.remove();
        else this.inc(value);
        return;
      }
      for (const { labels, value } of await samplesOf(metric)) this.inc(labels, value);
    },
  });
}

function labelsOf(metric: Metric): string[] {
  if ("label" in metric) return [metric.label];
  return "labels" in metric ? [...metric.labels] : [];
}

async function samplesOf(metric: Exclude<Metric, { look(): unknown }>): Promise<readonly Sample[]> {
  if ("lookSamples" in metric) return metric.lookSamples();
  return Object.entries(await metric.lookAll()).map(([value, count]) => ({
    labels: { [metric.label]: value },
    value: count,
  }));
}

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
