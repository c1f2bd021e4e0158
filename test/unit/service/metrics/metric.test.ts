import { describe, expect, test } from "bun:test";
import { Durations } from "../../../../src/service/metrics/meters.ts";
import { formatMetrics, Histogram, metricGroup } from "../../../../src/service/metrics/metric.ts";

describe("formatMetrics()", () => {
  test("tells what was counted in Prometheus' text, each bucket with those before it", async () => {
    const [near, far] = [new Durations([0.1, 1]), new Durations([0.1, 1])];
    for (const durationMs of [50, 100, 500, 2000]) near.add(durationMs);
    const group = metricGroup({ answer_seconds: "Answers.", seal_seconds: "Seals." }, () => ({
      answer_seconds: new Histogram([
        { labels: { route: "/near" }, durations: near },
        { labels: { route: "/far" }, durations: far },
      ]),
      seal_seconds: new Histogram([]),
    }));
    expect(await formatMetrics([group])).toBe(`# HELP answer_seconds Answers.
# TYPE answer_seconds histogram
answer_seconds_bucket{le="0.1",route="/near"} 2
answer_seconds_bucket{le="1",route="/near"} 3
answer_seconds_bucket{le="+Inf",route="/near"} 4
answer_seconds_sum{route="/near"} 2.65
answer_seconds_count{route="/near"} 4
answer_seconds_bucket{le="0.1",route="/far"} 0
answer_seconds_bucket{le="1",route="/far"} 0
answer_seconds_bucket{le="+Inf",route="/far"} 0
answer_seconds_sum{route="/far"} 0
answer_seconds_count{route="/far"} 0

# HELP seal_seconds Seals.
# TYPE seal_seconds histogram
`);
  });
});
