import { afterAll, beforeAll, describe, expect } from "bun:test";
import { ODD_TEXTS } from "../../support/reports/odd-texts.ts";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  runCommand,
  startReady,
} from "../../support/server-process.ts";
import { type Client, get, store } from "../support/client.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: on both runtimes every odd text reaches the disk and comes back as it was sent, also in the path of a question,
 * before and after it is archived. `test/unit/property/odd-texts.test.ts` tries the stores; this tries what lies around
 * them.
 */

const MS_PER_DAY = 86_400_000;
const AGES_DAYS = [20, 0];

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    let place: Place;
    const nowMs = Date.now() - 60_000;
    const reports = ODD_TEXTS.flatMap((device_id, d) =>
      AGES_DAYS.map((age) => ({
        device_id,
        user_id: ODD_TEXTS[(d + 1) % ODD_TEXTS.length]!,
        brand: ODD_TEXTS[(d + 2) % ODD_TEXTS.length]!,
        timestamp: nowMs - age * MS_PER_DAY,
        latitude: d,
        longitude: age,
      })),
    );

    beforeAll(() => {
      place = openPlace();
    });
    afterAll(() => closePlace(place));

    async function expectAllShown(client: Client): Promise<void> {
      const dayOf = (age: number) => new Date(nowMs - age * MS_PER_DAY).toISOString().slice(0, 10);
      const range = `start_date=${dayOf(AGES_DAYS[0]!)}&end_date=${dayOf(0)}&order=desc`;
      for (const device of ODD_TEXTS) {
        const own = reports.filter(({ device_id }) => device_id === device).toReversed();
        const shown = await locationsAt(
          client,
          `/api/v1/devices/${encodeURIComponent(device)}/locations/history?${range}`,
        );
        expect(shown.map(textsOf)).toEqual(own.map(textsOf));
      }
      for (const user of ODD_TEXTS.filter((text) => text.trim() !== "")) {
        const own = reports.filter(({ user_id }) => user_id === user).toReversed();
        const shown = await locationsAt(
          client,
          `/api/v1/users/${encodeURIComponent(user)}/locations/history?${range}`,
        );
        expect(shown.map(textsOf)).toEqual(own.map(textsOf));
      }
    }

    test("odd texts come back from memory, log and archive", async () => {
      const created = await runCommand(runtime, place, [
        ...["keys", "create", "--app", "default", "--tier", "unlimited"],
        ...["--permission", "read", "--permission", "write"],
      ]);
      const key = created.out.trim();
      let server = await startReady(runtime, place);
      await store({ url: server.url, key }, reports);
      await expectAllShown({ url: server.url, key });
      await server.stop();
      const sealed = await runCommand(runtime, place, ["seal", "--json"]);
      expect(JSON.parse(sealed.out)).toMatchObject({ records: ODD_TEXTS.length, unfinished: null });
      server = await startReady(runtime, place);
      await expectAllShown({ url: server.url, key });
      await server.stop();
      expect((await runCommand(runtime, place, ["verify"])).code).toBe(0);
    });
  });
}

const textsOf = ({ device_id, user_id, brand, latitude }: Readonly<Record<string, unknown>>) =>
  JSON.stringify([device_id, user_id, brand, latitude]);

async function locationsAt(client: Client, path: string): Promise<Readonly<Record<string, unknown>>[]> {
  const response = await get(client, path);
  expect([path, response.status]).toEqual([path, 200]);
  return (await response.json()).locations;
}
