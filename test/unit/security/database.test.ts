import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Connection,
  type Database,
  type DatabaseOptions,
  openDatabase,
} from "../../../src/archive/duckdb/database.ts";
import { removeArchiveApps, temporaryDataDir } from "../../support/archive-app.ts";
import { outcome } from "../../support/rejection.ts";

/*
 * Goal: even a statement of an attacker's own, which no input can make, reaches nothing but the archive. Method:
 * DuckDB as the service opens it, and every way to a file, the network, an extension or the settings.
 */

let root: string;
let archive: string;
let database: Database;
let connection: Connection;

beforeAll(async () => {
  root = temporaryDataDir();
  archive = join(root, "archive");
  mkdirSync(join(archive, "scratch"), { recursive: true });
  mkdirSync(`${archive}-beside`);
  for (const file of [join(root, "keys.csv"), `${archive}-beside/secret.csv`])
    writeFileSync(file, "a,b\nsecret,2\n");
  writeFileSync(join(archive, "inside.csv"), "a,b\n1,2\n");
  symlinkSync(join(root, "keys.csv"), join(archive, "link.csv"));
  symlinkSync(root, join(archive, "up"));
  const options: DatabaseOptions = {
    threads: 1,
    memoryBytes: 100_000_000,
    directories: [archive],
    spillDirectory: join(archive, "scratch"),
    cachesFiles: true,
  };
  database = await openDatabase(options);
  connection = await database.connect();
});
afterAll(async () => {
  connection.close();
  database.close();
  await removeArchiveApps();
});

/** Of the folders that a statement could write to. */
function filesNow(): string[] {
  return [root, archive, `${archive}-beside`, join(archive, "scratch")].flatMap((folder) =>
    readdirSync(folder),
  );
}

/** Statements by what they try; `$root` is the directory above the archive. */
const ATTEMPTS: Readonly<Record<string, readonly string[]>> = {
  "read files of the machine": [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('/proc/self/environ')",
    "SELECT * FROM '/etc/passwd'",
    "FROM read_json('/etc/os-release')",
    "FROM read_parquet('/etc/*')",
    "FROM read_ndjson_objects('/etc/passwd')",
    "FROM sniff_csv('/etc/passwd')",
    "FROM parquet_metadata('/etc/passwd')",
    "FROM read_csv('file:///etc/passwd')",
    "FROM read_text('/dev/stdin')",
  ],
  "read files of the data directory": [
    "FROM read_csv('$root/keys.csv')",
    "FROM read_text('$root/keys.csv')",
    "FROM read_csv('$root/archive/../keys.csv')",
    "FROM read_csv('$root/archive/./../keys.csv')",
    "FROM read_csv('$root/archive/scratch/../../keys.csv')",
    "FROM read_csv('$root/archive//../keys.csv')",
    "FROM read_csv('$root/archive-beside/secret.csv')",
    "FROM read_csv('$root/archive*/secret.csv')",
    "FROM read_csv('$root/*/secret.csv')",
    "FROM read_csv(['$root/archive/inside.csv', '$root/keys.csv'])",
    "FROM read_csv('$root/archive/link.csv')",
    "FROM read_csv('$root/archive/up/keys.csv')",
    "FROM read_csv('$root/archive/*.csv')",
  ],
  "list files": ["FROM glob('/etc/*')", "FROM glob('$root/*')", "FROM glob('$root/archive-beside/*')"],
  "write files": [
    "COPY (SELECT 1) TO '$root/written.csv'",
    "COPY (SELECT 1) TO '/tmp/wherehouse-written.csv'",
    "COPY (SELECT 1) TO '$root/archive/../written.csv'",
    "COPY (SELECT 1) TO '$root/archive/up/written.csv'",
    "COPY (SELECT 1) TO '$root/archive-beside/written.parquet' (FORMAT parquet)",
    "EXPORT DATABASE '$root/written'",
    "ATTACH '$root/written.db' AS other",
    "ATTACH '/tmp/wherehouse-written.db'",
    "PRAGMA enable_profiling = 'json'; PRAGMA profiling_output = '$root/written.json'",
    "SET temp_directory = '$root/written'",
    "SET log_query_path = '$root/written.log'",
    "SET secret_directory = '$root/written'",
    "SET home_directory = '$root/written'",
  ],
  "reach the network": [
    "FROM read_csv('https://127.0.0.1:1/x.csv')",
    "FROM read_parquet('s3://bucket/x.parquet')",
    "FROM read_csv('http://169.254.169.254/latest/meta-data/')",
    "ATTACH 'host=127.0.0.1' AS pg (TYPE postgres)",
    "CREATE SECRET x (TYPE s3, KEY_ID 'a', SECRET 'b')",
  ],
  "load code": [
    "INSTALL httpfs",
    "LOAD httpfs",
    "FORCE INSTALL spatial FROM community",
    "LOAD '$root/archive/inside.csv'",
    "INSTALL '$root/archive/inside.csv'",
    "UPDATE EXTENSIONS",
  ],
  "change what is allowed": [
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "RESET lock_configuration",
    "SET allowed_directories = ['/']",
    "SET allowed_paths = ['/etc/passwd']",
    "SET GLOBAL enable_external_access = true",
    "SET allow_unsigned_extensions = true",
    "SET allow_community_extensions = true",
    "SET autoload_known_extensions = true",
    "SET extension_directory = '$root'",
    "SET custom_extension_repository = 'http://127.0.0.1'",
    "SET memory_limit = '100GB'",
    "PRAGMA memory_limit = '100GB'",
  ],
};

describe.each(Object.keys(ATTEMPTS))("DuckDB as the service opens it can't %s", (what) => {
  test.each([...ATTEMPTS[what]!])("%s", async (statement) => {
    const before = filesNow();
    let refusal = "";
    try {
      await connection.run(statement.replaceAll("$root", root));
    } catch (error) {
      refusal = String(error);
    }
    expect(refusal).not.toBe("");
    expect(refusal).not.toMatch(/secret,2|root:x:/);
    expect(filesNow()).toEqual(before);
    expect(existsSync("/tmp/wherehouse-written.csv") || existsSync("/tmp/wherehouse-written.db")).toBeFalse();
  });
});

test("it reads the archive, so the refusals above are no broken database", async () => {
  const rows = await connection.run("SELECT count(*)::DOUBLE FROM read_csv($file)", {
    file: join(archive, "inside.csv"),
  });
  expect(rows.numbers(0)[0]).toBe(1);
});

test("a value is never a statement, and an extension never comes by itself", async () => {
  const rows = await connection.run("SELECT $text", { text: "'; SET lock_configuration = false; --" });
  expect(rows.texts(0)).toEqual(["'; SET lock_configuration = false; --"]);
  expect(await outcome(connection.run("SELECT ST_Point(1, 2)"))).toThrow();
});

test("every place that opens DuckDB goes through openDatabase(), and gives it directories of the archive alone", () => {
  const source = join(import.meta.dir, "../../../src");
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".ts"),
  );
  const texts = files.map((path) => [path, readFileSync(join(source, path), "utf8")] as const);
  const opening = texts.filter(([, text]) => /DuckDBInstance\.|@duckdb/.test(text)).map(([path]) => path);
  expect(opening).toEqual(["archive/duckdb/database.ts", "archive/duckdb/vectors.ts"]);
  const directories = texts.flatMap(([path, text]) =>
    [...text.matchAll(/\bdirectories: (\[[^\]]*\])/g)].map(([, value]) => `${path} ${value}`),
  );
  expect(directories.sort()).toEqual(DIRECTORIES);
});

/** What each opener may reach; a new one has to be looked at, and added here. */
const DIRECTORIES = [
  'archive/open-archive.ts [pathOf("")]',
  "archive/write/part-writer.ts [directory]",
  "cli/directory/data-directory.ts [archive]",
  "cli/directory/data-directory.ts [dataDir]", // Searches for traces, by statements of its own.
  "formats/read/table/parquet.ts []",
  "service/export/maker/serve-exports.ts [archiveDirectory, scratchDirectory]",
];
