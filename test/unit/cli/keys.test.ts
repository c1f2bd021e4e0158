import { expect, test } from "bun:test";
import { runCli, withDirectory } from "./support/run-cli.ts";

/** What `keys` prints where, and how it ends. */

test("keys: a bound key is listed with whom it reports as", () =>
  withDirectory(async (dataDir) => {
    const create = ["keys", "create", "--app", "shop", "--data-dir", dataDir, "--device", "pixel7"];
    const made = await runCli(...create, "--user", "anna", "--permission", "write");
    expect(made.error).toContain('can report only as device "pixel7" of user "anna".');
    expect((await runCli("keys", "list", "--data-dir", dataDir)).out).toContain("write        pixel7  anna");
    const json = (await runCli("keys", "list", "--json", "--data-dir", dataDir)).out;
    expect(JSON.parse(json)).toMatchObject([{ deviceId: "pixel7", userId: "anna" }]);
    expect(await runCli(...create, "--permission", "read")).toMatchObject({
      code: 2,
      error: expect.stringContaining("--device and --user are for keys that report: add --permission write."),
    });
    expect(await runCli(...create, "--permission", "write", "--user", "ANONYMOUS")).toMatchObject({
      code: 2,
    });
  }));

test("keys: one for an app is write-only, printed alone, and standard error says what to type", () =>
  withDirectory(async (dataDir) => {
    const create = ["keys", "create", "--app", "shop", "--data-dir", dataDir, "--for", "traccar"];
    const made = await runCli(...create, "--device", "pixel7", "--url", "https://h.example");
    expect(made.code).toBe(0);
    expect(made.out).toMatch(/^wh_[0-9A-Za-z]{49}\n$/);
    expect(made.error).toContain(`\n  Server URL         https://h.example/ingest/traccar/k/${made.out}`);
    const json = (await runCli("keys", "list", "--json", "--data-dir", dataDir)).out;
    expect(JSON.parse(json)).toMatchObject([
      { permissions: ["write"], deviceId: "pixel7", userId: null, label: "traccar" },
    ]);
    expect(json).not.toContain(made.out.trim());
  }));

test("keys: a share link shows what it is told to, has an end, and begins now unless it is said", () =>
  withDirectory(async (dataDir) => {
    const create = ["keys", "create", "--app", "shop", "--data-dir", dataDir, "--permission", "view"];
    const share = [...create, "--show-device", "bus", "--show-device", "tram"];
    const made = await runCli(...share, "--expires", "2099-04-01T18:00+02:00", "--precision", "500");
    expect(made.code).toBe(0);
    expect(made.out).toMatch(/^wh_[0-9A-Za-z]{49}\n$/);
    expect(made.error).toMatch(
      / may view until 2099-04-01T16:00:00Z\. It shows "bus", "tram" from 20\S+Z on, in cells /,
    );
    const exact = await runCli(...share, "--expires", "1d", "--not-before", "2026-03-20T12:00Z");
    expect(exact.error).toContain('It shows "bus", "tram" from 2026-03-20T12:00:00Z on.\n');
    const [first, second] = JSON.parse((await runCli("keys", "list", "--json", "--data-dir", dataDir)).out);
    const deviceIds = ["bus", "tram"];
    expect(first.expiresMs).toBe(Date.UTC(2099, 3, 1, 16));
    const { notBeforeMs } = first.view;
    expect(first.view).toEqual({ deviceIds, notBeforeMs, precisionMeters: 500 });
    expect(notBeforeMs).toBeGreaterThan(first.createdMs - 10_000);
    expect(notBeforeMs).toBeLessThanOrEqual(first.createdMs);
    expect(second.view).toEqual({ deviceIds, notBeforeMs: Date.UTC(2026, 2, 20, 12), precisionMeters: null });
    const refused = async (...args: string[]) => {
      const { code, out, error } = await runCli(...share, ...args);
      expect([code, out]).toEqual([1, ""]);
      return error;
    };
    expect(await refused("--expires", "2020-04-01T18:00Z")).toBe(
      "--expires must be in the future, and 2020-04-01T18:00:00Z is not.\n",
    );
    expect(await refused("--expires", "2099-04-01T18:00Z", "--not-before", "2099-04-01T18:00Z")).toBe(
      "--not-before must be before --expires, which is 2099-04-01T18:00:00Z.\n",
    );
  }));

test("keys: a key is printed alone, listed without its text, and revoked", () =>
  withDirectory(async (dataDir) => {
    const at = ["--data-dir", dataDir];
    const made = await runCli(
      "keys",
      "create",
      "--app",
      "shop",
      "--permission",
      "read",
      "--label",
      "van 7",
      "--expires",
      "1d",
      ...at,
    );
    expect(made.code).toBe(0);
    expect(made.out).toMatch(/^wh_[0-9A-Za-z]{49}\n$/);
    const text = made.out.trim();
    const list = await runCli("keys", "list", ...at);
    expect(list).toMatchObject({ code: 0, error: "" });
    const id = /^k_\S+/m.exec(list.out)![0];
    expect(list.out).toContain(`${id}  shop  read         -       -     standard  van 7`);
    const json = (await runCli("keys", "list", "--json", ...at)).out;
    expect(JSON.parse(json)).toMatchObject([
      { id, appId: "shop", lastFour: text.slice(-4), revokedMs: null },
    ]);
    for (const shown of [list.out, json]) {
      expect(shown).not.toContain(text);
      expect(shown).not.toContain("sha256");
    }
    expect(await runCli("keys", "revoke", id, ...at)).toMatchObject({ code: 0, out: "" });
    expect(JSON.parse((await runCli("keys", "list", "--json", ...at)).out)[0].revokedMs).toBeGreaterThan(0);
    const unknown = await runCli("keys", "revoke", "k_00000000", ...at);
    expect(unknown).toEqual({
      code: 1,
      out: "",
      error: 'There is no key "k_00000000". keys list shows them.\n',
    });
  }));
