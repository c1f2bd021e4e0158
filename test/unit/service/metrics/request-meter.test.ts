import { expect, test } from "bun:test";
import { RequestMeter } from "../../../../src/service/metrics/request-meter.ts";

test("RequestMeter counts answers by route and status, and what is not answered yet", () => {
  const meter = new RequestMeter();
  const [a, b] = [meter.route("GET", "/a"), meter.route("POST", "/b/:id")];
  a.begin();
  b.begin();
  a.end(200, 3);
  a.begin();
  a.end(404, 1);
  a.begin();
  a.end(200, 2);
  expect(meter.inFlight).toBe(1);
  expect(meter.routes.map(({ method, path, statuses }) => [method, path, [...statuses]])).toEqual([
    [
      "GET",
      "/a",
      [
        [200, 2],
        [404, 1],
      ],
    ],
    ["POST", "/b/:id", []],
  ]);
  expect(meter.routes[0]!.durations.sumSeconds).toBeCloseTo(0.006, 9);
});
