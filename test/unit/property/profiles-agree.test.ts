import { afterAll, expect, test } from "bun:test";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { backUp } from "../../../src/operator/backup/backup.ts";
import { restore } from "../../../src/operator/backup/restore.ts";
import { createNodeFiles } from "../../../src/runtime/node-files.ts";
import { copyNodeSqlite } from "../../../src/runtime/node-sqlite.ts";
import { createReferenceProfiles, type Members } from "../../reference/profiles.ts";
import {
  type ArchiveApp,
  createArchiveApp,
  removeArchiveApps,
  temporaryDataDir,
} from "../../support/archive-app.ts";
import * as fc from "../../support/fast-check.ts";
import { arbitraryProfile } from "../../support/reports/arbitrary-profiles.ts";
import { verifyDirectory } from "../../support/verify-directory.ts";

/**
 * Goal: profiles of devices are what was stored last, wherever they lie by now. Method: random reports, profiles and
 * deletions of two apps go to a server that seals and restarts as chance has it; after each step every endpoint that
 * shows profiles or names is compared with plain maps. In the end a backup is restored, and compared too.
 */

afterAll(removeArchiveApps);

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 0, 28, 12);
const DEVICES = ["bus", "ä", "\u{1F68C}", "never reported"];
const KEYS = ["full", "other"] as const;

const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant("profile" as const),
      key: fc.constantFrom(...KEYS),
      device: fc.constantFrom(...DEVICES),
      members: fc.option(arbitraryProfile, { freq: 4 }),
    }),
    fc.record({
      kind: fc.constant("report" as const),
      key: fc.constantFrom(...KEYS),
      device: fc.constantFrom(...DEVICES.slice(0, 3)),
      daysAgo: fc.nat(9),
    }),
    fc.record({ kind: fc.constantFrom("seal" as const, "restart" as const, "day" as const) }),
  ),
  { minLength: 1, maxLength: 14 },
);

class Story {
  readonly clock = createManualClock(NOW_MS);
  readonly models = { full: createReferenceProfiles(), other: createReferenceProfiles() };
  readonly lastSeen = { full: new Map<string, number>(), other: new Map<string, number>() };
  app!: ArchiveApp;

  async edit(key: (typeof KEYS)[number], device: string, members: Members | null): Promise<void> {
    const had = this.models[key].find(device) !== null;
    const response = await this.app.fetch(`/api/v1/devices/${encodeURIComponent(device)}/profile`, {
      method: members === null ? "DELETE" : "PUT",
      headers: { authorization: `Bearer ${this.app.keys[key]}`, "content-type": "application/json" },
      ...(members === null ? {} : { body: JSON.stringify(members) }),
    });
    expect(response.status).toBe(members === null && !had ? 404 : 200);
    this.models[key].set(device, members);
  }

  async report(key: (typeof KEYS)[number], device: string, daysAgo: number): Promise<void> {
    const timestamp = this.clock.nowMs() - daysAgo * DAY_MS;
    await this.app.store([{ device_id: device, timestamp, latitude: 53.4, longitude: -2.9 }], key);
    this.lastSeen[key].set(device, Math.max(timestamp, this.lastSeen[key].get(device) ?? 0));
  }

  async expectAgreement(app = this.app): Promise<void> {
    for (const key of KEYS) {
      const model = this.models[key];
      const seen = this.lastSeen[key];
      for (const device of DEVICES) {
        const { status, body } = await app.get(`/api/v1/devices/${encodeURIComponent(device)}/profile`, key);
        expect(status === 200 ? body.profile : null).toEqual(model.find(device));
      }
      for (const filter of [{}, { text: "BUS" }, { tag: "ä" }, { text: "y", tag: "a/b" }]) {
        const { body } = await app.get(`/api/v1/devices?${new URLSearchParams(filter)}`, key);
        expect([...body.devices] as unknown).toEqual(model.list(seen, filter));
      }
      await this.expectNames(app, key, [...seen.keys()]);
    }
  }

  async expectNames(app: ArchiveApp, key: (typeof KEYS)[number], reported: readonly string[]): Promise<void> {
    const model = this.models[key];
    const named = (records: readonly Members[]) =>
      Object.fromEntries(records.map(({ device_id, name }) => [device_id, name]));
    const expected = Object.fromEntries(reported.map((device) => [device, model.nameOf(device)]));
    const current = await app.get("/api/v1/locations/current?names=true", key);
    expect(named(current.body.locations)).toEqual(expected);
    const nearby = await app.get(
      "/api/v1/devices/nearby?latitude=53.4&longitude=-2.9&max_age_hours=9000&names=true&timezone=UTC",
      key,
    );
    expect(named(nearby.body.results.map(({ location }) => location))).toEqual(expected);
    const { body } = await app.get("/api/v1/locations/current/columns?names=true", key);
    const columns = body as unknown as { device_id: string[]; name: (string | null)[] };
    const ids = columns.device_id;
    expect(Object.fromEntries(ids.map((id, at) => [id, columns.name[at] ?? undefined]))).toEqual(expected);
    for (const device of reported) {
      const path = `/api/v1/devices/${encodeURIComponent(device)}/locations/current`;
      expect((await app.get(`${path}?names=true`, key)).body.location.name).toEqual(expected[device]);
      expect((await app.get(path, key)).body.location.name).toBeUndefined();
    }
  }

  /** Backs the directory up while it is in use, and answers from the copy. */
  async expectBackup(): Promise<void> {
    const files = createNodeFiles();
    const take = async (directory: string) => {
      await files.makeDirectory(directory);
      return () => {};
    };
    const directory = temporaryDataDir();
    const { clock } = this;
    const { dataDir } = this.app;
    const common = { files, take, onProgress: () => {} };
    const made = await backUp({
      ...common,
      copySqlite: copyNodeSqlite,
      clock,
      program: "1",
      dataDir,
      directory,
    });
    expect(made).toMatchObject({ ok: true, value: { problems: [] } });
    const restored = temporaryDataDir();
    expect((await restore({ ...common, directory, dataDir: restored })).ok).toBe(true);
    const [before, after] = [await verifyDirectory(dataDir, clock), await verifyDirectory(restored, clock)];
    expect(before.problems).toEqual([]);
    expect([after.profiles, after.sha256]).toEqual([before.profiles, before.sha256]);
    const sizes = KEYS.map((key) => this.models[key].size).filter((size) => size > 0);
    expect((before.profiles ?? []).map(({ profiles }) => profiles)).toEqual(sizes);
    const app = await createArchiveApp({ clock, dataDir: restored });
    await this.expectAgreement(app);
    await app.close();
  }
}

test("profiles and names are what plain maps have, over seals, restarts and a restored backup", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (story) => {
      const run = new Story();
      run.app = await createArchiveApp({ clock: run.clock });
      for (const step of story) {
        if (step.kind === "profile") await run.edit(step.key, step.device, step.members);
        else if (step.kind === "report") await run.report(step.key, step.device, step.daysAgo);
        else if (step.kind === "seal") await run.app.seal();
        else if (step.kind === "restart") run.app = await run.app.restart();
        else run.clock.advance(DAY_MS);
        await run.expectAgreement();
      }
      await run.expectBackup();
      expect(run.app.notes).toEqual([]);
      await run.app.close();
    }),
    { numRuns: 25 },
  );
}, 120_000);
