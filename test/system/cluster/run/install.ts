import { mkdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { findNatsServer, INSTALLED_NATS_SERVER } from "../../../support/nats/nats-server.ts";

/** Makes sure that there is a nats-server, with Go where there is none; else says what to install, in one line. */
export async function ensureNatsServer(onStep: (step: string) => void): Promise<string | null> {
  const named = process.env.NATS_SERVER;
  if (named !== undefined && named !== findNatsServer())
    return `NATS_SERVER names ${named}, which is no nats-server of version 2.15 or later.`;
  if (findNatsServer() !== null) return null;
  const version = basename(INSTALLED_NATS_SERVER).replace("nats-server-", "v");
  const go = Bun.which("go") ?? Bun.which("/usr/local/go/bin/go");
  const what =
    `nats-server ${version} or later is needed: install it from https://github.com/nats-io/nats-server/releases and ` +
    "name it in NATS_SERVER, or install Go, with which it is made.";
  if (go === null) return what;
  onStep(`making nats-server ${version} with Go, which takes some minutes the first time`);
  const place = dirname(INSTALLED_NATS_SERVER);
  const scratch = join(place, `making-${process.pid}`);
  mkdirSync(scratch, { recursive: true });
  try {
    const child = Bun.spawn([go, "install", `github.com/nats-io/nats-server/v2@${version}`], {
      env: { ...process.env, GOBIN: scratch },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    });
    const said = await new Response(child.stderr).text();
    if ((await child.exited) !== 0) return `${what} Go said: ${said.trim().slice(-500)}`;
    renameSync(join(scratch, "nats-server"), INSTALLED_NATS_SERVER);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return findNatsServer() === null ? what : null;
}
