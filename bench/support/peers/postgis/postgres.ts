import { chownSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { fail, type Result } from "../../../../src/lib/result.ts";
import { type Daemon, findProgram, makeDirectory, removeDirectory, startDaemon } from "../daemon.ts";

/* PostgreSQL in a temporary directory, as an unprivileged user if we are root. */

export const INSTALL =
  "no postgres with PostGIS; Debian: apt install postgresql-postgis (its programs are found without being in the PATH)";
const INSTALL_SETPRIV = "postgres refuses to run as root, and there is no setpriv to run it as somebody else";
const DEBIAN_PROGRAMS = "/usr/lib/postgresql";
const USERS = ["postgres", "nobody"];
const USER = "bench";
const DATABASE = "postgres";

/** Cleans up if the start fails. */
export async function startPostgres(connections: number): Promise<Result<Daemon, string>> {
  const server = findProgram("postgres", debianDirectories());
  const initdb = findProgram("initdb", debianDirectories());
  if (server === null || initdb === null) return fail(INSTALL);
  const directory = makeDirectory("postgis");
  const started = await startIn(directory, server, initdb, connections);
  if (!started.ok) removeDirectory(directory);
  return started;
}

async function startIn(
  directory: string,
  server: string,
  initdb: string,
  connections: number,
): Promise<Result<Daemon, string>> {
  const as = process.getuid?.() === 0 ? unprivilegedLauncher(directory) : [];
  if (as === null) return fail(INSTALL_SETPRIV);
  const data = join(directory, "data");
  const argv = [
    ...as,
    initdb,
    "-D",
    data,
    "-U",
    USER,
    "--auth=trust",
    "--no-sync",
    "-E",
    "UTF8",
    "--locale=C",
  ];
  const made = Bun.spawnSync(argv, { cwd: directory, stdout: "ignore", stderr: "pipe" });
  if (made.exitCode !== 0) return fail(`initdb: ${made.stderr.toString().trim()}`);
  const settings = [
    ...["listen_addresses=127.0.0.1", "unix_socket_directories=", `max_connections=${connections + 20}`],
    ...["shared_buffers=512MB", "work_mem=32MB", "jit=off"],
    ...["fsync=off", "full_page_writes=off"], // Durability is disabled, so that its cost is not measured.
  ];
  return startDaemon({
    directory,
    argv: (port) => [
      ...as,
      server,
      "-D",
      data,
      "-p",
      String(port),
      ...settings.flatMap((set) => ["-c", set]),
    ],
    stopSignal: "SIGINT",
    async greet(port) {
      const sql = connectTo(port);
      try {
        await sql`SELECT 1`;
      } finally {
        await sql.end();
      }
    },
  });
}

/** The launcher for an unprivileged user, who gets the directory; null if that is impossible. */
function unprivilegedLauncher(directory: string): readonly string[] | null {
  const setpriv = findProgram("setpriv");
  if (setpriv === null) return null;
  for (const user of USERS) {
    const [uid, gid] = ["-u", "-g"].map((kind) =>
      Number(Bun.spawnSync(["id", kind, user]).stdout.toString()),
    );
    if (!uid || !gid) continue;
    chownSync(directory, uid, gid);
    return [setpriv, `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"];
  }
  return null;
}

function debianDirectories(): readonly string[] {
  if (!existsSync(DEBIAN_PROGRAMS)) return [];
  const versions = readdirSync(DEBIAN_PROGRAMS).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(DEBIAN_PROGRAMS, version, "bin"));
}

/** One connection, opened by the first query. */
export function connectTo(port: number): postgres.Sql {
  return postgres({ host: "127.0.0.1", port, user: USER, database: DATABASE, max: 1 });
}
