import { Counter, Gauge, type Registry } from "prom-client";

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
