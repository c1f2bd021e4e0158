import { describe, expect, test } from "bun:test";
import { createKeyText } from "../../../src/auth/api-key.ts";
import { parseCommand } from "../../../src/cli/arguments/command.ts";
import { helpText, usageErrorText } from "../../../src/cli/arguments/help.ts";
import { NPM_PROGRAM, programOf } from "../../../src/cli/arguments/program.ts";

const KEY = createKeyText();

function parse(line: string, environment: Record<string, string> = {}) {
  return parseCommand(line === "" ? [] : line.split(" "), environment);
}

function parsed(line: string, environment: Record<string, string> = {}): unknown {
  const command = parse(line, environment);
  return command.ok ? command.value : command.error;
}

function refusal(line: string, environment: Record<string, string> = {}): string {
  const command = parse(line, environment);
  return command.ok ? `accepted as ${command.value.kind}` : command.error.message;
}

const SERVE = {
  dataDir: "data/local",
  hostname: "127.0.0.1",
  port: 3000,
  corsOrigins: [],
  friendsApps: [],
  compat: null,
  sealIntervalMs: 3_600_000,
  archiveThreads: 2,
  archiveMemoryBytes: 1e9,
  mqtt: null,
};

describe("parseCommand()", () => {
  test("knows what serve does by default, by environment and by option", () => {
    expect(parsed("serve")).toEqual({ kind: "serve", config: SERVE, logLevel: "info" });
    const environment = { WHEREHOUSE_DATA_DIR: "/e", WHEREHOUSE_PORT: "81", WHEREHOUSE_HOST: "::1" };
    const fromEnvironment = { ...SERVE, dataDir: "/e", port: 81, hostname: "::1" };
    expect(parsed("serve", environment)).toEqual({
      kind: "serve",
      config: fromEnvironment,
      logLevel: "info",
    });
    const line =
      "serve --port 82 --host=0.0.0.0 --data-dir /d --cors-origin https://a.example --cors-origin * --friends a --friends b";
    expect(parsed(line, environment)).toEqual({
      kind: "serve",
      config: {
        ...SERVE,
        dataDir: "/d",
        hostname: "0.0.0.0",
        port: 82,
        corsOrigins: ["https://a.example", "*"],
        friendsApps: ["a", "b"],
      },
      logLevel: "info",
    });
  });

  test("knows how often serve seals, and what questions to the archive may use", () => {
    expect(parsed("serve --seal-every 15m --archive-threads 8 --archive-memory 4GB")).toEqual({
      kind: "serve",
      config: { ...SERVE, sealIntervalMs: 900_000, archiveThreads: 8, archiveMemoryBytes: 4e9 },
      logLevel: "info",
    });
    for (const wrong of ["--seal-every 0m", "--seal-every soon", "--seal-every 25d", "--archive-threads 0"]) {
      expect(refusal(`serve ${wrong}`)).toContain(wrong.split(" ")[0]!);
    }
    expect(refusal("serve --archive-memory 99MB")).toContain("at least 100MB");
  });

  test("knows whose paths serve takes too", () => {
    expect(parsed("serve --compat dawarich")).toMatchObject({ config: { compat: "dawarich" } });
    expect(refusal("serve --compat traccar")).toContain("--compat");
  });

  describe("serve --mqtt", () => {
    const MQTT = {
      broker: { hostname: "broker.example", port: 8883, isSecure: true, user: "anna@home" },
      password: null,
      passwordFile: null,
      authoritiesFile: null,
      topicFilters: ["owntracks/+/+"],
      appId: "shop",
      queuedMessagesMax: 1000,
    };
    const LINE = "serve --mqtt mqtts://anna%40home@broker.example --mqtt-app shop";

    test("knows the broker, what to take of it, and for whom", () => {
      expect(parsed(LINE)).toMatchObject({ config: { mqtt: MQTT } });
      const more = `${LINE} --mqtt-topic a/+/+ --mqtt-topic b/+/+ --mqtt-ca /ca.pem --mqtt-queue 100000`;
      expect(parsed(`${more} --mqtt-password-file /p`)).toMatchObject({
        config: {
          mqtt: {
            ...MQTT,
            topicFilters: ["a/+/+", "b/+/+"],
            authoritiesFile: "/ca.pem",
            passwordFile: "/p",
            queuedMessagesMax: 100_000,
          },
        },
      });
      expect(parsed("serve --mqtt mqtt://[::1] --mqtt-app shop")).toMatchObject({
        config: { mqtt: { broker: { hostname: "::1", port: 1883, isSecure: false, user: null } } },
      });
    });

    test("takes the password from the environment, and from nowhere that others can see", () => {
      const environment = { WHEREHOUSE_MQTT_PASSWORD: "s3cret" };
      expect(parsed(LINE, environment)).toMatchObject({ config: { mqtt: { password: "s3cret" } } });
      for (const url of [
        "mqtts://anna:s3cret@broker.example",
        "mqtt://:s3cret@broker.example",
        "anna:s3cret@b",
      ]) {
        const told = refusal(`serve --mqtt ${url} --mqtt-app shop`);
        expect(told).toContain("--mqtt must");
        expect(told).not.toContain("s3cret");
      }
      expect(refusal("serve --mqtt mqtts://anna:s3cret@b --mqtt-app shop")).toContain("--mqtt-password-file");
      expect(refusal(`${LINE} --mqtt-password s3cret`)).toBe("Unknown option --mqtt-password");
      expect(refusal(`${LINE} --mqtt-password-file /p`, environment)).toContain("not both");
      expect(refusal("serve --mqtt mqtt://b --mqtt-app shop", environment)).toContain("needs a user");
      expect(refusal("serve --mqtt mqtt://b --mqtt-app shop --mqtt-password-file /p")).toContain(
        "needs a user",
      );
    });

    test.each([
      ["serve --mqtt-topic a/b/c", "--mqtt-topic goes with --mqtt"],
      ["serve --mqtt mqtt://b", "--mqtt needs --mqtt-app"],
      ["serve --mqtt http://b --mqtt-app shop", "--mqtt must be an address"],
      ["serve --mqtt mqtt://b/path --mqtt-app shop", "--mqtt must be an address"],
      [`${LINE} --mqtt-topic a/#/b`, "--mqtt-topic must be a topic filter"],
      [`${LINE} --mqtt-topic a/+/c --mqtt-topic a/b/#`, "--mqtt-topic a/+/c and a/b/# overlap"],
      [`${LINE} --mqtt-queue 0`, "--mqtt-queue must be a whole number"],
    ])("refuses %s", (line, told) => {
      expect(refusal(line)).toStartWith(told);
    });
  });

  test("knows seal", () => {
    expect(parsed("seal --data-dir /d --json")).toEqual({ kind: "seal", dataDir: "/d", json: true });
    expect(refusal("seal now")).toContain('"now"');
  });

  test("takes an empty variable for none", () => {
    const environment = { WHEREHOUSE_DATA_DIR: "", WHEREHOUSE_PORT: "", WHEREHOUSE_HOST: "" };
    expect(parsed("serve", environment)).toEqual({ kind: "serve", config: SERVE, logLevel: "info" });
  });

  test("knows how much serve logs, by environment and by option", () => {
    const environment = { WHEREHOUSE_LOG_LEVEL: "warn" };
    expect(parsed("serve", environment)).toMatchObject({ logLevel: "warn" });
    expect(parsed("serve --log-level debug", environment)).toMatchObject({ logLevel: "debug" });
    expect(refusal("serve --log-level loud")).toContain("error, warn, info, debug");
  });

  test("takes global options before the command and after it", () => {
    const expected = { kind: "keys list", dataDir: "/d", json: true };
    expect(parsed("--data-dir /d keys list --json")).toEqual(expected);
    expect(parsed("--data-dir=/d keys list --json")).toEqual(expected);
    expect(parsed("keys --data-dir /d list --json")).toEqual(expected);
    expect(parsed("keys list --json --data-dir /d")).toEqual(expected);
  });

  test("reads the key commands", () => {
    const line =
      "keys create --app shop --permission write --permission read --permission read --tier free --label van --expires 30d";
    expect(parsed(line)).toEqual({
      kind: "keys create",
      dataDir: "data/local",
      appId: "shop",
      permissions: ["read", "write"],
      client: null,
      serverUrl: null,
      deviceId: null,
      userId: null,
      tier: "free",
      label: "van",
      lifetimeMs: 30 * 86_400_000,
    });
    expect(parsed("keys create --app shop --permission operate")).toMatchObject({
      permissions: ["operate"],
      tier: "standard",
      label: "",
      lifetimeMs: null,
    });
    const bound = "keys create --app a --for overland --url https://h/ --device bus --user ada";
    expect(parsed(bound)).toMatchObject({
      permissions: ["write"],
      client: "overland",
      serverUrl: "https://h",
      deviceId: "bus",
      userId: "ada",
    });
    expect(parsed("keys create --app a --for owntracks --permission write --permission read")).toMatchObject({
      permissions: ["read", "write"],
      serverUrl: null,
    });
    expect(parsed("keys revoke k_12345678")).toEqual({
      kind: "keys revoke",
      dataDir: "data/local",
      id: "k_12345678",
    });
    expect(parsed("keys passphrase k_12345678 --device pixel7")).toEqual({
      kind: "keys passphrase",
      dataDir: "data/local",
      id: "k_12345678",
      deviceId: "pixel7",
      remove: false,
    });
  });

  test("reads doctor, which asks the server of this machine by default", () => {
    const command = { kind: "doctor", url: "http://127.0.0.1:3000", key: KEY, deviceId: null, json: false };
    expect(parsed("doctor", { WHEREHOUSE_KEY: KEY })).toEqual(command);
    expect(parsed(`doctor --url https://h/base/ --key ${KEY} --device pixel7 --json`)).toEqual({
      ...command,
      url: "https://h/base",
      deviceId: "pixel7",
      json: true,
    });
  });

  test("reads import, with the formats that the names say", () => {
    expect(parsed("import a.csv b.CSV.gz c.ndjson.zst d.jsonl --app shop --user u --shift-to-now")).toEqual({
      kind: "import",
      dataDir: "data/local",
      files: [
        { path: "a.csv", format: "csv" },
        { path: "b.CSV.gz", format: "csv" },
        { path: "c.ndjson.zst", format: "ndjson" },
        { path: "d.jsonl", format: "ndjson" },
      ],
      target: { kind: "directory", appId: "shop" },
      userId: "u",
      shiftToNow: true,
    });
    expect(parsed("import - --format ndjson --app shop")).toMatchObject({
      files: [{ path: "-", format: "ndjson" }],
      userId: null,
      shiftToNow: false,
    });
    const target = { kind: "server", url: "http://h:1/base", key: KEY };
    expect(parsed(`import a.csv --url http://h:1/base/ --key ${KEY}`)).toMatchObject({ target });
    expect(parsed("import a.csv --url http://h:1/base", { WHEREHOUSE_KEY: KEY })).toMatchObject({
      target,
    });
    expect(parsed(`import a.csv --url http://h:1/base --key ${KEY} --app shop`)).toMatchObject({
      target: { ...target, appId: "shop" },
    });
    const typo = { WHEREHOUSE_KEY: "wh_typo" };
    expect(parsed("import a.csv --app shop", typo)).toMatchObject({ target: { kind: "directory" } });
    expect(parsed("import --app shop -- --odd.csv")).toMatchObject({ files: [{ path: "--odd.csv" }] });
  });

  test("reads verify", () => {
    expect(parsed("verify")).toEqual({
      kind: "verify",
      dataDir: "data/local",
      json: false,
      acknowledge: false,
      quick: false,
      days: false,
    });
    expect(parsed("verify --json --acknowledge")).toMatchObject({ json: true, acknowledge: true });
    expect(parsed("verify --quick --days")).toMatchObject({ quick: true, days: true });
  });

  test("reads backup and restore, whose directories lie apart from the data", () => {
    const told = { dataDir: "data/local", directory: "/mnt/b", json: false };
    expect(parsed("backup /mnt/b")).toEqual({ kind: "backup", ...told });
    expect(parsed("restore /mnt/b")).toEqual({ kind: "restore", ...told });
    expect(parsed("backup x --data-dir y --json")).toMatchObject({
      dataDir: "y",
      directory: "x",
      json: true,
    });
    expect(parsed("backup data/local2")).toMatchObject({ directory: "data/local2" });
  });

  test("finds help and version wherever they stand", () => {
    const asked: [string, unknown][] = [
      ["--help", null],
      ["-h", null],
      ["help", null],
      ["serve --help", "serve"],
      ["--help serve", "serve"],
      ["help import", "import"],
      ["help keys create", "keys create"],
      ["keys --help", "keys"],
      ["import --help", "import"],
    ];
    for (const [line, topic] of asked) {
      expect(parsed(line), line).toEqual({ kind: "help", topic });
    }
    expect(parsed("--version")).toEqual({ kind: "version" });
    expect(parsed("verify --version")).toEqual({ kind: "version" });
  });

  const refused: [line: string, message: string, environment?: Record<string, string>][] = [
    ["", "A command is missing"],
    ["--data-dir", "--data-dir needs a value"],
    ["--port 1 serve", "Unknown option --port"],
    ["launch", 'Unknown command "launch"'],
    ["keys", "keys needs a command: create, list, revoke or passphrase"],
    ["keys steal", 'Unknown command "keys steal"'],
    ["help launch", 'Unknown command "launch"'],
    ["serve --prot 1", "Unknown option --prot"],
    ["serve -p", "Unknown option -p"],
    ["serve --constructor", "Unknown option --constructor"],
    ["serve --json", "Unknown option --json"],
    ["serve now", 'Unexpected argument "now"'],
    ["serve --port", "--port needs a value"],
    ["serve --port --host x", "--port needs a value"],
    ["serve --port 1 --port 2", "--port is given twice"],
    ["serve --port 65536", '--port must be a whole number from 0 to 65535, not "65536"'],
    ["serve --port 0x50", '--port must be a whole number from 0 to 65535, not "0x50"'],
    [
      "serve",
      'WHEREHOUSE_PORT must be a whole number from 0 to 65535, not "http"',
      { WHEREHOUSE_PORT: "http" },
    ],
    ["serve --host a/b", '--host must be a host name or address, not "a/b"'],
    ["serve --data-dir=", "--data-dir must not be empty"],
    [
      "serve --cors-origin a.example",
      '--cors-origin must be * or an origin such as https://example.org, not "a.example"',
    ],
    [
      "serve --cors-origin http://a/",
      '--cors-origin must be * or an origin such as https://example.org, not "http://a/"',
    ],
    ["keys list --json=yes", "--json takes no value"],
    ["keys create --permission read", "keys create needs --app"],
    [
      "keys create --app a/b --permission read",
      '--app must have 1 to 64 letters, digits, dots, dashes and underscores, not "a/b"',
    ],
    ["keys create --app a", "keys create needs --permission: read, write, operate"],
    ["keys create --app a --permission own", '--permission must be one of read, write, operate, not "own"'],
    [
      "keys create --app a --permission read --tier gold",
      '--tier must be one of free, standard, unlimited, not "gold"',
    ],
    [
      "keys create --app a --permission read --expires soon",
      '--expires must be a time such as 90m, 12h, 30d or 2w, not "soon"',
    ],
    [
      "keys create --app a --device d --permission read",
      "--device and --user say whom a key reports as: add --permission write",
    ],
    [
      "keys create --app a --permission write --device .",
      "--device: device_id must not be . or .., which no path can name",
    ],
    [
      "keys create --app a --permission write --user ANONYMOUS",
      "--user: ANONYMOUS stands for reports without a user",
    ],
    [
      "keys create --app a --for osmand --permission read",
      "--for makes a key that reports: add --permission write",
    ],
    ["keys create --app a --permission write --url https://h", "--url goes with --for"],
    [
      "keys create --app a --for whatsapp",
      '--for must be one of owntracks, overland, traccar, osmand, gpslogger, opengts, colota, homeassistant, phonetrack, traccar-forward, not "whatsapp"',
    ],
    ["backup", "backup needs the directory of the backup"],
    ["restore a b", 'restore takes one directory, and "b" is one more'],
    ["backup data/local/x", 'The backup "data/local/x" and the data directory "data/local" must lie apart'],
    ["backup a/.. --data-dir a", 'The backup "a/.." and the data directory "a" must lie apart'],
    ["restore a --data-dir ./a", 'The backup "a" and the new data directory "./a" must lie apart'],
    ["keys revoke", "keys revoke needs the id of a key, as keys list shows it"],
    ["keys revoke a b", 'keys revoke takes one id, and "b" is one more'],
    ["doctor", "doctor needs --key, or the key in WHEREHOUSE_KEY"],
    [
      "doctor all --key wh_x",
      "--key must be a whole key, as keys create printed it; a character is wrong or missing",
    ],
    ["keys passphrase", "keys passphrase needs the id of a key, as keys list shows it"],
    ["keys passphrase a secret", "keys passphrase takes one id, and asks for the pass phrase itself"],
    ["import --app a", "import needs at least one file, or - for standard input"],
    ["import a.csv", "import needs --app, or --url with --key"],
    ["import a.txt --app a", '"a.txt" does not say what it is: add --format csv or --format ndjson'],
    ["import - --app a", '"-" does not say what it is: add --format csv or --format ndjson'],
    ["import - - --app a --format csv", "- can be given once"],
    ["import a.csv --app a --format xml", '--format must be csv or ndjson, not "xml"'],
    [
      "import - --app a --format csv --shift-to-now",
      "--shift-to-now reads files twice, and standard input can be read once",
    ],
    ["import a.csv --app a --key k", "--key goes with --url"],
    [
      "import a.csv --url http://h --key wh_typo",
      "--key must be a whole key, as keys create printed it; a character is wrong or missing",
    ],
    ["import a.csv --url http://h", "--url needs --key, or the key in WHEREHOUSE_KEY"],
    [
      "import a.csv --url h:3000 --key k",
      '--url must be an address such as http://127.0.0.1:3000, not "h:3000"',
    ],
    ["import a.csv --app a --user ANONYMOUS", "--user: ANONYMOUS stands for reports without a user"],
    ["import a.csv --app a --user=", "--user: user_id must have 1 to 128 characters"],
  ];
  for (const [line, message, environment] of refused) {
    test(`refuses "${line}"`, () => {
      expect(refusal(line, environment)).toBe(message);
    });
  }
});

test("usageErrorText() is one line about the mistake and one about help", () => {
  const command = parse("keys create --frob");
  if (command.ok) throw new Error("accepted");
  expect(usageErrorText(command.error, "bun src/main.ts")).toBe(
    "Unknown option --frob.\nTry: bun src/main.ts keys create --help\n",
  );
  expect(usageErrorText({ message: "A command is missing", topic: null }, NPM_PROGRAM)).toBe(
    "A command is missing.\nTry: npm run --silent cli -- --help\n",
  );
});

test("helpText() names every option that its command takes, and fits a terminal", () => {
  const options = {
    serve: ["--port", "--host", "--cors-origin", "--log-level", "--data-dir"],
    "keys create": [
      "--app",
      "--permission",
      "--for",
      "--url",
      "--device",
      "--user",
      "--tier",
      "--label",
      "--expires",
      "--data-dir",
    ],
    "keys list": ["--json", "--data-dir"],
    "keys revoke": ["--data-dir"],
    "keys passphrase": ["--device", "--remove", "--data-dir"],
    import: ["--app", "--user", "--format", "--shift-to-now", "--url", "--key", "--data-dir"],
    doctor: ["--url", "--key", "--device", "--json", "--data-dir"],
    backup: ["--json", "--data-dir"],
    restore: ["--json", "--data-dir"],
    verify: ["--json", "--acknowledge", "--days", "--quick", "--data-dir"],
  } as const;
  for (const [topic, names] of Object.entries(options)) {
    const text = helpText(topic as keyof typeof options, NPM_PROGRAM);
    for (const name of names) expect(text).toContain(`\n  ${name}`);
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(110);
  }
});

test("programOf() is what npm's users can type where npm started us, and Bun's command line elsewhere", () => {
  const ours = { npm_package_name: "wherehouse", npm_lifecycle_event: "cli" };
  expect(programOf(ours)).toBe("npm run --silent cli --");
  expect(programOf({ ...ours, npm_lifecycle_event: "start" })).toBe("npm run --silent cli --");
  expect(programOf({})).toBe("bun src/main.ts");
  expect(programOf({ ...ours, npm_lifecycle_event: "test" })).toBe("bun src/main.ts");
  expect(programOf({ ...ours, npm_package_name: "another" })).toBe("bun src/main.ts");
});
