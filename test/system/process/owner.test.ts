import { afterEach, beforeEach, describe, expect } from "bun:test";
import { chmodSync, chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  type Runtime,
  readFirstKey,
  runCommand,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { get, store, untilKnown } from "../support/client.ts";
import {
  asRootWithoutChown,
  asUser,
  canBeOthers,
  giveTo,
  OWNER_UID,
  ownersBelow,
  STRANGER_UID,
} from "../support/other-user.ts";
import { test, testOnBunAlone } from "../support/process-test.ts";

/*
 * Goal: whoever runs a command, a data directory stays its owner's: the server goes on, and starts again.
 * Method: a server of another user, and every command beside it and after it: as root, as root that may not give
 * files away, and as a third user, who is refused before anything has changed.
 */

const PATH = "/api/v1/locations/current";
const MS_PER_DAY = 86_400_000;
const OWNERS = new RegExp(`^${OWNER_UID}:${OWNER_UID} [67]00 `);
const CREATE_KEY = ["keys", "create", "--app", "default", "--permission", "read"];

const canTry = canBeOthers();
if (!canTry) console.warn("Left out: commands of other users, which need root and setpriv.");

for (const runtime of RUNTIMES) {
  describe.if(canTry)(`on ${runtime.name}`, () => {
    const owners = asUser(OWNER_UID, runtime);
    let place: Place;
    let file: string;

    beforeEach(() => {
      place = openPlace();
      giveTo(OWNER_UID, place);
      file = join(place.directory, "reports.csv");
      const rows = [0, 1, 20, 21].map((days) => `bus,${Date.now() - days * MS_PER_DAY},53.4,-2.9`);
      writeFileSync(file, ["device_id,timestamp,latitude,longitude", ...rows, ""].join("\n"));
      chownSync(file, OWNER_UID, OWNER_UID);
      chmodSync(file, 0o600);
    });
    afterEach(() => closePlace(place));

    const run = (as: Runtime, args: readonly string[]) => runCommand(as, place, args, [file]);

    async function startFilled(): Promise<ServerProcess> {
      const server = await startReady(owners, place);
      const report = { device_id: "tram", timestamp: Date.now(), latitude: 53, longitude: -2 };
      await store({ url: server.url, key: readFirstKey(place) }, [report]);
      return server;
    }

    async function expectAnswers(server: ServerProcess, key: string, devices: number): Promise<void> {
      const response = await get({ url: server.url, key }, PATH);
      const { locations } = (await response.json()) as { locations?: unknown[] };
      expect([response.status, locations?.length]).toEqual([200, devices]);
    }

    test("what root makes in another user's directory belongs to that user, who goes on with it", async () => {
      const asRoot = async (...args: string[]) => {
        const { code, out, error } = await run(runtime, args);
        expect([args, code, error]).toEqual([args, 0, expect.anything()]);
        return out;
      };
      const first = await startFilled();
      const key = (await asRoot(...CREATE_KEY)).trim();
      await asRoot("backup", join(place.directory, "backup"));
      await untilKnown({ url: first.url, key });
      await expectAnswers(first, key, 1);
      await expectAnswers(first, readFirstKey(place), 1);
      await first.stop();

      await asRoot("import", file, "--app", "default");
      await asRoot("seal");
      await asRoot("verify", "--acknowledge");
      await asRoot("backup", join(place.directory, "backup"));
      const all = [place.dataDir, join(place.directory, "backup")].flatMap(ownersBelow);
      expect(all.filter((entry) => !OWNERS.test(entry))).toEqual([]);
      expect(all.join()).toContain("backup.json");
      expect(all.join()).toContain(".parquet");
      const again = await startReady(owners, place);
      await expectAnswers(again, key, 2);
      expect((await again.stop()).error).not.toMatch(/damage|"archive"|failed/);
      expect((await run(owners, ["seal"])).code).toBe(0);
    });

    // Whose a file is to be is decided alike on both; that Deno can give it away, the test above says.
    const testOnBun = testOnBunAlone(runtime);

    testOnBun(
      "what root restores belongs to whom the new directory does, or the one that it lies in",
      async () => {
        await (await startFilled()).stop();
        const backup = join(place.directory, "backup");
        expect((await run(runtime, ["backup", backup])).code).toBe(0);
        const made = { ...place, dataDir: join(place.directory, "made") };
        const given = { ...place, dataDir: join(place.directory, "given") };
        mkdirSync(given.dataDir);
        chownSync(given.dataDir, STRANGER_UID, STRANGER_UID);
        for (const { dataDir, ...rest } of [made, given]) {
          expect((await runCommand(runtime, { dataDir, ...rest }, ["restore", backup])).code).toBe(0);
        }
        expect(statSync(made.dataDir).uid).toBe(OWNER_UID);
        expect(ownersBelow(made.dataDir).filter((entry) => !OWNERS.test(entry))).toEqual([]);
        expect(statSync(given.dataDir).uid).toBe(STRANGER_UID);
        expect(ownersBelow(given.dataDir).filter((entry) => !entry.startsWith(`${STRANGER_UID}:`))).toEqual(
          [],
        );
        const server = await startReady(owners, made);
        await expectAnswers(server, readFileSync(join(place.dataDir, "first-key"), "utf8").trim(), 1);
        await server.stop();
      },
    );

    testOnBun(
      "who may not keep the owner is refused in a sentence that says who may, and changes nothing",
      async () => {
        await (await startFilled()).stop();
        const commands = [
          CREATE_KEY,
          ["keys", "list"],
          ["seal"],
          ["import", file, "--app", "default"],
          ["verify"],
          ["backup", join(place.directory, "backup")],
          ["serve", "--port", "0"],
        ];
        const advice = `belongs to user ${OWNER_UID}: run this as that user (sudo -u '#${OWNER_UID}' COMMAND)`;
        chmodSync(file, 0o644);
        chmodSync(place.directory, 0o755);
        const strangers = asUser(STRANGER_UID, runtime);
        for (const mode of [0o700, 0o777]) {
          chmodSync(place.dataDir, mode);
          const before = ownersBelow(place.dataDir);
          for (const refused of await Promise.all(commands.map((args) => run(strangers, args)))) {
            expect(refused).toMatchObject({ code: 1, out: "", error: expect.stringContaining(advice) });
          }
          expect(ownersBelow(place.dataDir)).toEqual(before);
        }
        chmodSync(place.dataDir, 0o700);
        const keys = readFileSync(join(place.dataDir, "keys.json"));
        const refused = await run(asRootWithoutChown(runtime), CREATE_KEY);
        expect([refused.code, refused.out, refused.error]).toEqual([1, "", expect.stringContaining(advice)]);
        expect(readFileSync(join(place.dataDir, "keys.json"))).toEqual(keys);
        await (await startReady(owners, place)).stop();
      },
    );
  });
}
