/* A program of the client's user, which runs unchanged in Node, Bun, Deno and a browser. */

/** Reports, asks and listens. Returns what it saw. */
export async function takeTrip({ Wherehouse, WherehouseError }, url, key, deviceId, startMs) {
  const client = new Wherehouse({ url, key });
  const seen = {};
  const rejected = [];
  const queue = client.reports({
    batch: 2,
    onRejected: (report, message) => rejected.push([report.latitude, message]),
  });
  for (let step = 0; step < 5; step++)
    queue.add({
      device_id: deviceId,
      timestamp: startMs + step * 1000,
      latitude: 53 + step / 1000,
      longitude: -2,
    });
  queue.add({ device_id: deviceId, timestamp: startMs, latitude: 99, longitude: -2 });
  await queue.flush();
  seen.rejected = rejected.map(([latitude]) => latitude);
  seen.waiting = queue.waiting.length;

  const point = { latitude: 53.004, longitude: -2, radius_miles: 1 };
  const { results } = await client.devices.nearby(point);
  seen.isNear = results.some(({ device_id }) => device_id === deviceId);
  seen.history = [];
  const day = new Date(startMs).toISOString().slice(0, 10);
  for await (const { latitude } of client.devices.history(deviceId, { start_date: day, limit: 2 }))
    seen.history.push(latitude);
  seen.unknown = await client.devices.current("another-device");
  seen.device = (await client.devices.current(deviceId)).location.latitude;
  const failure = await client.devices.nearby({ ...point, latitude: 91 }).catch((error) => error);
  seen.failure = [failure instanceof WherehouseError, failure.code, failure.status];

  const stop = new AbortController();
  seen.live = [];
  for await (const event of client.live({ device_id: [deviceId] }, stop.signal)) {
    seen.live.push([event.kind, event.locations.map(({ latitude }) => latitude)]);
    if (event.kind === "changed") break;
    queue.add({ device_id: deviceId, timestamp: startMs + 9000, latitude: 53.5, longitude: -2 });
    await queue.flush();
  }
  queue.close();
  return seen;
}
