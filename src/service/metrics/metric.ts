import { AggregatorRegistry, type PrometheusContentType } from "prom-client";
import type { MaybePromise } from "../../lib/schedule/maybe-promise.ts";
import type { Durations } from "./meters.ts";

/*
 * Metrics: help texts by name, and the values of these names, which each scrape reads.
 */

/** The metrics of one part of the service. */
export interface MetricGroup {
  /** The help texts by name, in the order of the scrape. Names end in their unit, `_total` if they only rise. */
  readonly help: Readonly<Record<string, string>>;
  /** Reads the values by name, at each scrape. */
  read(): MaybePromise<Readonly<Record<string, MetricValue>>>;
}

/** A value, several values with labels, or null if the value is not known yet. */
export type MetricValue = number | null | readonly Sample[] | Histogram;

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Durations that a part of the service counts itself, for each set of labels. */
export class Histogram {
  readonly all: readonly LabelledDurations[];

  constructor(all: readonly LabelledDurations[]) {
    this.all = all;
  }
}

interface LabelledDurations {
  readonly labels: Readonly<Record<string, string>>;
  readonly durations: Durations;
}

/** Requires a value for each name that has a help text. */
export function metricGroup<Name extends string>(
  help: Readonly<Record<Name, string>>,
  read: () => MaybePromise<Readonly<Record<NoInfer<Name>, MetricValue>>>,
): MetricGroup {
  return { help, read };
}

/** One sample for each count; the label's value is the count's name. */
export function samplesBy(label: string, counts: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(counts).map(([name, value]) => ({ labels: { [label]: name }, value }));
}

/**
 * The metrics as text in Prometheus' format. A histogram of prom-client accepts only one duration at a time, but its
 * registry also accepts whole metrics as JSON, as the processes of a Node.js cluster send them.
 */
export async function formatMetrics(groups: readonly MetricGroup[]): Promise<string> {
  const readings = await Promise.all(groups.map((group) => group.read()));
  const metrics = groups.flatMap(({ help }, group) =>
    Object.entries(help).map(([name, text]) => {
      const reading = readings[group]![name] ?? null;
      const type = reading instanceof Histogram ? "histogram" : name.endsWith("_total") ? "counter" : "gauge";
      return { name, help: text, type, aggregator: "sum", values: valuesOf(name, reading) };
    }),
  );
  return AggregatorRegistry.aggregate<PrometheusContentType>([metrics]).metrics();
}

function valuesOf(name: string, reading: MetricValue): readonly Sample[] {
  if (reading === null) return [];
  if (typeof reading === "number") return [{ labels: {}, value: reading }];
  return reading instanceof Histogram ? reading.all.flatMap((each) => bucketsOf(name, each)) : reading;
}

/** As Prometheus requires, each bucket includes the ones before it. */
function bucketsOf(name: string, { labels, durations }: LabelledDurations) {
  const { boundsSeconds, counts, sumSeconds } = durations;
  let count = 0;
  const buckets = [...boundsSeconds.map(String), "+Inf"].map((le, bucket) => {
    count += counts[bucket]!;
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sumSeconds },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
