import { afterAll, describe, expect } from "bun:test";
import { readdirSync, rmSync, statSync } from "node:fs";
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
  startServing,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { Browser, OF_PAGE } from "../../unit/http/page/browser.ts";
import { test, testOnBunAlone } from "../support/process-test.ts";

/** Signing in on the map of the real program, over restarts, and by links that another process makes. */

function browserOf({ url }: ServerProcess): Browser {
  return new Browser({ fetch: (path, init) => fetch(`${url}${path}`, init) });
}

async function appOf(browser: Browser): Promise<string | null> {
  const { session } = (await browser.get("/map/session")).body as unknown as {
    session: { app_id: string } | null;
  };
  return session?.app_id ?? null;
}

/** The same program as one who sits at a terminal starts it; stopped with its terminal. */
function atTerminal(runtime: Runtime): Runtime {
  return {
    name: runtime.name,
    command: (permissions) => [
      ...["sh", "-c", 'exec script -qefc "stty -onlcr; exec $*" /dev/null', "sh"],
      ...runtime.command(permissions),
    ],
  };
}

const codeIn = (text: string) => /\/map#code=(c1\.[\w.-]+)/.exec(text)?.[1];

describe.each([...RUNTIMES])("on $name", (runtime) => {
  const place: Place = openPlace();
  afterAll(() => closePlace(place));

  /** Keys, links and what is said of them are the same on both; files and terminals are not. */
  const testOnBun = testOnBunAlone(runtime);
  const link = (...args: string[]) => runCommand(runtime, place, ["keys", "link", ...args]);

  test("a session lasts over a restart, and ends with the secret that signs it", async () => {
    let server = await startReady(runtime, place);
    const browser = browserOf(server);
    expect((await browser.signIn({ key: readFirstKey(place) })).status).toBe(200);
    const secret = join(place.dataDir, "session-secret");
    expect([statSync(secret).size, statSync(secret).mode & 0o777]).toEqual([32, 0o600]);
    await server.stop();

    server = await startReady(runtime, place);
    const again = browserOf(server);
    again.cookie = browser.cookie;
    expect(await appOf(again)).toBe("default");
    expect((await again.get("/api/v1/locations/current")).status).toBe(200);
    rmSync(secret);
    await until(async () => (await appOf(again)) === null);
    expect((await again.signIn({ key: readFirstKey(place) })).status).toBe(200);
    expect(await appOf(again)).toBe("default");
    await server.stop();
  });

  testOnBun(
    "keys link prints a link that a running server takes once, and none after a restart",
    async () => {
      let server = await startReady(runtime, place);
      const used = await link("--url", `${server.url}/`);
      expect([used.code, used.out.split("c1.")[0]]).toEqual([0, `${server.url}/map#code=`]);
      expect(used.error).toMatch(/^Signs in as key k_\w{8} of app default, once, within 10 minutes:\n$/);
      const kept = codeIn((await link()).out)!;
      const code = codeIn(used.out)!;
      const signIn = async (text: string) => (await browserOf(server).signIn({ code: text })).status;
      expect(await signIn(code)).toBe(200);
      expect(await signIn(code)).toBe(401);
      const { error } = await server.stop();
      expect(error).not.toContain("c1.");

      server = await startReady(runtime, place);
      for (const before of [code, kept]) expect(await signIn(before)).toBe(401);
      expect(await signIn(codeIn((await link()).out)!)).toBe(200);
      await server.stop();
    },
  );

  testOnBun("what a session or a link opens by is in no log and no backup", async () => {
    const server = await startReady(runtime, place, ["--log-level", "debug"]);
    const browser = browserOf(server);
    const code = codeIn((await link()).out)!;
    expect((await browser.signIn({ code })).status).toBe(200);
    const cookie = browser.cookie!;
    for (const path of ["/api/v1/locations/current", "/api/v1/nothing", "/map/session"])
      await browser.get(path);
    browser.cookie = cookie.slice(0, -1);
    await browser.get("/api/v1/locations/current");
    await browser.signIn({ code });
    const { code: ended, out, error } = await server.stop();
    expect([ended, error.includes("/map/session")]).toEqual([0, true]);
    for (const secret of [code, cookie.split("=")[1]!])
      expect(`${out}${error}`).not.toContain(secret.slice(secret.lastIndexOf(".") + 1, -1));

    const backup = join(place.directory, "backup");
    expect((await runCommand(runtime, place, ["backup", backup])).code).toBe(0);
    expect(readdirSync(backup)).toContain("keys.json");
    expect(readdirSync(backup).filter((name) => name.startsWith("session"))).toEqual([]);
  });

  testOnBun("a stream that a session opened ends when the key of that is revoked", async () => {
    const server = await startReady(runtime, place);
    const { error } = await runCommand(runtime, place, [
      ...["keys", "create", "--app", "default", "--permission", "read"],
    ]);
    const id = /k_\w{8}/.exec(error)![0];
    const browser = browserOf(server);
    const code = codeIn((await link(id)).out)!;
    await until(async () => (await browser.signIn({ code })).status === 200);
    const headers = { ...OF_PAGE, cookie: browser.cookie! };
    const stream = await fetch(`${server.url}/api/v1/live`, { headers });
    expect(stream.status).toBe(200);
    await runCommand(runtime, place, ["keys", "revoke", id]);
    await stream.text(); // Until it ends.
    expect((await browser.get("/api/v1/live")).body.code).toBe("AUTH_003");
    await server.stop();
  });

  testOnBun("keys link signs in as the key that is named, if that shows anything", async () => {
    const create = async (...args: string[]) => {
      const { error } = await runCommand(runtime, place, ["keys", "create", "--app", "shop", ...args]);
      return /k_\w{8}/.exec(error)![0];
    };
    const reader = await create("--permission", "read");
    const writer = await create("--permission", "write");
    expect((await link(reader)).error).toContain(`key ${reader} of app shop`);
    expect(await link(writer)).toEqual({
      code: 1,
      out: "",
      error: `Key ${writer} may not read, so the map would show nothing.\n`,
    });
    expect((await link("k_00000000")).error).toBe('There is no key "k_00000000". keys list shows them.\n');
    await runCommand(runtime, place, ["keys", "revoke", reader]);
    expect((await link(reader)).error).toBe(`Key ${reader} is revoked.\n`);
  });

  test("who starts a server at a terminal is shown a link, and a pipe is not", async () => {
    const piped = await startReady(runtime, place);
    expect(codeIn(`${piped.out}${piped.error}`)).toBeUndefined();
    await piped.stop();
    const server = await startServing(atTerminal(runtime), place);
    expect(server.out).toContain(`\nOpen the map: ${server.url}/map#code=c1.`);
    expect((await browserOf(server).signIn({ code: codeIn(server.out) })).status).toBe(200);
    await server.stop();
  });
});
