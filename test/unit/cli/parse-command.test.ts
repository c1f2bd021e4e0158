import { describe, expect, test } from "bun:test";
import { createKeyText } from "../../../src/auth/api-key.ts";
import { commandsOf } from "../../../src/cli/commands.ts";
import { helpText, NPM_PROGRAM, programOf, usageErrorText } from "../../../src/cli/help.ts";
import { parseCommand } from "../../../src/cli/parse-command.ts";

const KEY = createKeyText();

function parse(line: string, environment: Record<string, string> = {}) {
  return parseCommand(line === "" ? [] : line.split(" "), environment);
}

function parsed(line: string, environment: Record<string, string> = {}): unknown {
  const command = parse(line, environment);
  return command.ok ? { kind: command.value.name, ...command.value.options } : command.error;
}

function refusal(line: string, environment: Record<string, string> = {}): string {
  const command = parse(line, environment);
  return command.ok ? `accepted as ${command.value.name}` : command.error.message;
}

/** Of a cluster's servers, by what follows their beginning. */
function natsVariables(variables: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [`WHEREHOUSE_NATS_${name}`, value]),
  );
}

const SERVE = {
  dataDir: "data/local",
  hostname: "127.0.0.1",
  port: 3000,
  corsOrigins: [],
  friendsApps: [],
  mapFile: null,
  compat: null,
  sealIntervalMs: 3_600_000,
  archiveThreads: 2,
  archiveMemoryBytes: 1e9,
  viewersMax: 1024,
  demoSpeed: null,
  mqtt: null,
  webhookTargets: { allowed: [] },
  webhookProxy: null,
  cluster: null,
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

  test("knows how many may listen", () => {
    expect(parsed("serve --max-viewers 16")).toMatchObject({ config: { viewersMax: 16 } });
    expect(refusal("serve --max-viewers 0")).toContain("--max-viewers must be a whole number");
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

  describe("serve --log", () => {
    const ACCESS = { credentials: null, authoritiesFile: null };
    const CLUSTER = {
      address: { servers: ["a:4222", "b:4333"], isSecure: false, stream: "wherehouse" },
      access: ACCESS,
      logBytesMax: 16_000_000_000,
      nodeTimeoutMs: 7 * 86_400_000,
      advertise: null,
    };
    const LINE = "serve --log nats://a,b:4333";

    test("knows servers and stream, and what we are to the others", () => {
      expect(parsed(LINE)).toEqual({
        kind: "serve",
        config: { ...SERVE, cluster: CLUSTER },
        logLevel: "info",
      });
      const line = "serve --log tls://n1.example,[::1]:1,N1.example:4222 --stream fleet_2 --node-timeout 36h";
      expect(parsed(`${line} --advertise https://n1.example/ --nats-ca /ca.pem`)).toMatchObject({
        config: {
          cluster: {
            address: { servers: ["n1.example:4222", "[::1]:1"], isSecure: true, stream: "fleet_2" },
            access: { ...ACCESS, authoritiesFile: "/ca.pem" },
            nodeTimeoutMs: 36 * 3_600_000,
            advertise: "https://n1.example",
          },
        },
      });
      const environment = { WHEREHOUSE_NATS_CA: "/env.pem" };
      expect(parsed("serve --log tls://a", environment)).toMatchObject({
        config: { cluster: { access: { authoritiesFile: "/env.pem" } } },
      });
    });

    test.each([
      [
        { USER: "node", PASSWORD: "s3cret" },
        { kind: "user", user: "node", password: "s3cret" },
      ],
      [
        { TOKEN: "t0ken", USER: "" },
        { kind: "token", token: "t0ken" },
      ],
      [{ CREDENTIALS: "/node.creds" }, { kind: "file", path: "/node.creds" }],
      [{ PASSWORD: "" }, null],
    ])("takes credentials from the environment: %p", (variables, credentials) => {
      expect(parsed(LINE, natsVariables(variables))).toMatchObject({
        config: { cluster: { access: { credentials } } },
      });
    });

    test.each([
      [{ USER: "node" }, "WHEREHOUSE_NATS_USER needs WHEREHOUSE_NATS_PASSWORD"],
      [{ PASSWORD: "s3cret" }, "WHEREHOUSE_NATS_PASSWORD needs WHEREHOUSE_NATS_USER"],
      [{ USER: "node", PASSWORD: "s3cret", TOKEN: "t0ken" }, "Give one of"],
      [{ PASSWORD: "s3cret", CREDENTIALS: "/c" }, "Give one of"],
      [{ TOKEN: "t0ken", CREDENTIALS: "/c" }, "Give one of"],
    ])("refuses credentials that it can't use: %p", (variables, told) => {
      const refused = refusal(LINE, natsVariables(variables));
      expect(refused).toStartWith(told);
      expect(refused).not.toContain("s3cret");
      expect(parsed("serve", natsVariables(variables))).toMatchObject({ config: SERVE });
    });

    test.each([
      ["serve --stream fleet", "--stream goes with --log"],
      ["serve --node-timeout 7d", "--node-timeout goes with --log"],
      ["serve --advertise http://a:3000", "--advertise goes with --log"],
      ["serve --nats-ca /ca.pem", "--nats-ca goes with --log"],
      [`${LINE} --nats-ca /ca.pem`, "--nats-ca needs TLS"],
      [`${LINE} --stream a.b`, "--stream must have 1 to 32 letters"],
      [`${LINE} --stream ${"x".repeat(33)}`, "--stream must have 1 to 32 letters"],
      [`${LINE} --node-timeout 59s`, "--node-timeout must be a time"],
      [`${LINE} --advertise n1`, "--advertise must be an address"],
      ["serve --log http://a:4222", "--log must be an address"],
      ["serve --log a:4222", "--log must be an address"],
      ["serve --log nats://", "--log must be an address"],
      ["serve --log nats://a,", "--log must be an address"],
      ["serve --log nats://a:70000", "--log must be an address"],
      ["serve --log nats://a:0", "--log must be an address"],
      ["serve --log nats://a:4222/path", "--log must be an address"],
      ["serve --log nats://node:s3cret@a", "--log must not hold a user"],
      ["serve --log nats://a,t0ken@b", "--log must not hold a user"],
    ])("refuses %s", (line, told) => {
      expect(refusal(line)).toStartWith(told);
      expect(refusal(line)).not.toMatch(/s3cret|t0ken/);
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
      ends: { afterMs: 30 * 86_400_000 },
      view: null,
    });
    expect(parsed("keys create --app shop --permission operate")).toMatchObject({
      permissions: ["operate"],
      tier: "standard",
      label: "",
      ends: null,
      view: null,
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
    const share =
      "keys create --app a --permission view --show-device bus --show-device tram --show-device bus --expires";
    expect(parsed(`${share} 2026-04-01T18:00+02:00`)).toMatchObject({
      permissions: ["view"],
      ends: { atMs: Date.UTC(2026, 3, 1, 16) },
      view: { deviceIds: ["bus", "tram"], notBeforeMs: null, precisionMeters: null },
    });
    expect(parsed(`${share} 2w --not-before 2026-03-20T12:00:30Z --precision 500`)).toMatchObject({
      ends: { afterMs: 14 * 86_400_000 },
      view: {
        deviceIds: ["bus", "tram"],
        notBeforeMs: Date.UTC(2026, 2, 20, 12, 0, 30),
        precisionMeters: 500,
      },
    });
    expect(parsed("keys link")).toEqual({
      kind: "keys link",
      dataDir: "data/local",
      id: null,
      serverUrl: null,
    });
    expect(parsed("keys link k_12345678 --url https://h.example/")).toMatchObject({
      id: "k_12345678",
      serverUrl: "https://h.example",
    });
    expect(parsed("keys revoke k_12345678")).toEqual({
      kind: "keys revoke",
      dataDir: "data/local",
      id: "k_12345678",
      withWebhooks: false,
    });
    expect(parsed("keys passphrase k_12345678 --device pixel7")).toEqual({
      kind: "keys passphrase",
      dataDir: "data/local",
      id: "k_12345678",
      deviceId: "pixel7",
      remove: false,
    });
  });

  test("reads doctor, which asks with a key, or about all apps of its directory without", () => {
    const choice = { kind: "keyed", url: null, key: KEY, dataDir: "data/local" };
    const command = { kind: "doctor", about: "devices", choice, deviceId: null, json: false };
    const install = { kind: "doctor", about: "install", dataDir: "d", hostname: "127.0.0.1", port: 80 };
    expect(parsed("doctor --install --port 80 --data-dir d")).toEqual(install);
    expect(parsed("doctor --ready")).toMatchObject({ about: "ready", url: null });
    expect(parsed("doctor", { WHEREHOUSE_KEY: KEY })).toEqual(command);
    const own = { kind: "own", dataDir: "data/local", appId: null };
    expect(parsed("doctor")).toEqual({ ...command, choice: own });
    expect(parsed("quarantine list --app shop --data-dir d")).toMatchObject({
      choice: { kind: "own", dataDir: "d", appId: "shop" },
    });
    expect(parsed(`doctor --url https://h/base/ --key ${KEY} --device pixel7 --json`)).toEqual({
      ...command,
      choice: { ...choice, url: "https://h/base" },
      deviceId: "pixel7",
      json: true,
    });
  });

  test("reads import, with all that may be said of files", () => {
    const line = [
      "import a.csv takeout - --app shop --device d --user u --format csv --timezone Europe/Berlin --shift -90m",
      "--speed-unit kmh --from 2025-01-01 --to 2025-12-31 --skip-old --waypoints --semantic --map latitude=Breite",
      "--map timestamp=Zeit --time-format HH:mm --owntracks-key secret --max-bytes 2GB --dry-run --report r --json",
    ].join(" ");
    expect(parsed(line)).toMatchObject({
      kind: "import",
      dataDir: "data/local",
      paths: ["a.csv", "takeout", "-"],
      target: { kind: "directory", appId: "shop" },
      rules: {
        deviceId: "d",
        userId: "u",
        range: { startMs: Date.UTC(2025, 0, 1), endMs: Date.UTC(2026, 0, 1) },
      },
      format: "csv",
      zone: { name: "Europe/Berlin" },
      shift: -5_400_000,
      speedUnit: "kmh",
      waypoints: true,
      semantic: true,
      columns: new Map([
        ["latitude", "Breite"],
        ["timestamp", "Zeit"],
      ]),
      timeFormat: "HH:mm",
      passPhrases: ["secret"],
      unpackedBytesMax: 2e9,
      skipOld: true,
      dryRun: true,
      report: "r",
      json: true,
    });
    expect(parsed("import a --app shop")).toMatchObject({
      rules: { deviceId: null, userId: null, range: { startMs: -Infinity, endMs: Infinity } },
      format: null,
      shift: 0,
      speedUnit: null,
      skipOld: false,
    });
    expect(parsed("import a --app shop --shift-to-now --speed-unit auto")).toMatchObject({
      shift: "to_now",
      speedUnit: null,
    });
    const instants = "--from 2025-01-01T12:00:00+02:00 --to 2025-01-01T12:00:00.001Z";
    expect(parsed(`import a --app shop ${instants}`)).toMatchObject({
      rules: { range: { startMs: Date.UTC(2025, 0, 1, 10), endMs: Date.UTC(2025, 0, 1, 12) + 2 } },
    });
    expect(parsed("import a --dry-run")).toMatchObject({ target: { kind: "directory", appId: null } });
  });

  test("reads where an import goes to", () => {
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
    expect(parsed("import --app shop -- --odd.csv")).toMatchObject({ paths: ["--odd.csv"] });
  });

  test("reads verify", () => {
    expect(parsed("verify")).toEqual({
      kind: "verify",
      dataDir: "data/local",
      json: false,
      acknowledge: false,
      quick: false,
      days: false,
      subject: null,
    });
    expect(parsed("verify --json --acknowledge")).toMatchObject({ json: true, acknowledge: true });
    expect(parsed("verify --quick --days")).toMatchObject({ quick: true, days: true });
    expect(parsed("verify --erased --device van")).toMatchObject({
      subject: { kind: "device", id: "van", appId: null },
    });
    expect(parsed("verify --erased --user anna --app shop --json")).toMatchObject({
      json: true,
      subject: { kind: "user", id: "anna", appId: "shop" },
    });
    for (const [args, error] of [
      ["--erased", "needs either --device or --user"],
      ["--erased --device van --user anna", "needs either --device or --user"],
      ["--erased --device van --quick", "--erased does not go with --quick"],
      ["--device van", "--device needs --erased"],
      ["--app shop", "--app needs --erased"],
    ])
      expect(parsed(`verify ${args}`)).toMatchObject({ message: expect.stringContaining(error!) });
  });

  test("reads backup and restore, whose directories lie apart from the data", () => {
    const told = { dataDir: "data/local", directory: "/mnt/b", json: false };
    expect(parsed("backup /mnt/b")).toEqual({ kind: "backup", ...told });
    expect(parsed("restore /mnt/b")).toEqual({ kind: "restore", ...told, erasures: null });
    expect(parsed("restore /mnt/b --erasures e.json")).toMatchObject({ erasures: "e.json" });
    expect(parsed("backup x --data-dir y --json")).toMatchObject({
      dataDir: "y",
      directory: "x",
      json: true,
    });
    expect(parsed("backup data/local2")).toMatchObject({ directory: "data/local2" });
  });

  test("reads join, which needs an address and a key", () => {
    expect(parsed(`join https://a.example.org/ --key ${KEY} --data-dir x`)).toEqual({
      kind: "join",
      dataDir: "x",
      url: "https://a.example.org",
      key: KEY,
      again: false,
      json: false,
    });
    expect(parsed(`join http://a --key ${KEY} --again --json`)).toMatchObject({ again: true, json: true });
    expect(refusal("join")).toBe("join needs the address of a running node");
    expect(refusal("join a.example.org")).toMatch(/^URL must be an address such as/);
    expect(refusal("join http://a http://b")).toBe('join takes one address, and "http://b" is one more');
    expect(refusal("join http://a")).toBe("join needs --key, or the key in WHEREHOUSE_KEY");
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
    ["keys", "keys needs a command: create, list, link, revoke or passphrase"],
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
    [
      "keys create --app a",
      "keys create needs --permission: read, write, edit, manage, erase, operate, view",
    ],
    [
      "keys create --app a --permission write --permission edit --device bus",
      "--permission edit does not go with --device and --user: it is about the whole app",
    ],
    [
      "keys create --app a --permission own",
      '--permission must be one of read, write, edit, manage, erase, operate, view, not "own"',
    ],
    [
      "keys create --app a --permission read --tier gold",
      '--tier must be one of free, standard, unlimited, not "gold"',
    ],
    [
      "keys create --app a --permission read --expires soon",
      '--expires must be a time such as 90m, 12h, 30d or 2w, or an instant with its zone such as 2026-04-01T18:00+02:00, not "soon"',
    ],
    [
      "keys create --app a --permission view --permission read --show-device bus --expires 1d",
      "--permission view can't be combined with another permission",
    ],
    [
      "keys create --app a --permission view --device bus --expires 1d",
      "--for, --device and --user are for keys that report: a share link shows devices with --show-device",
    ],
    [
      "keys create --app a --permission view --for osmand --show-device bus --expires 1d",
      "--for, --device and --user are for keys that report: a share link shows devices with --show-device",
    ],
    ["keys create --app a --permission view --expires 1d", "--permission view needs --show-device"],
    [
      `keys create --app a --permission view --expires 1d ${Array.from({ length: 1001 }, (_, n) => `--show-device ${n}`).join(" ")}`,
      "--permission view takes at most 1000 devices, not 1001",
    ],
    [
      "keys create --app a --permission view --show-device bus",
      "--permission view needs --expires: a share link has an end",
    ],
    ...["--show-device bus", "--precision 500", "--not-before 2026-04-01T00:00Z"].map(
      (flag) =>
        [
          `keys create --app a --permission read ${flag}`,
          "--show-device, --not-before and --precision are for share links: add --permission view",
        ] as [string, string],
    ),
    ...["2026-04-01", "2026-04-01T12:00", "2026-02-30T12:00Z", "yesterday"].map(
      (instant) =>
        [
          `keys create --app a --permission view --show-device bus --expires 1d --not-before ${instant}`,
          `--not-before must be an instant with its zone, such as 2026-04-01T18:00+02:00 or 2026-04-01T16:00Z, not "${instant}"`,
        ] as [string, string],
    ),
    ...["9", "100001", "1e3", "500m"].map(
      (meters) =>
        [
          `keys create --app a --permission view --show-device bus --expires 1d --precision ${meters}`,
          `--precision must be a number of meters from 10 to 100000, not "${meters}"`,
        ] as [string, string],
    ),
    [
      "keys create --app a --device d --permission read",
      "--device and --user are for keys that report: add --permission write",
    ],
    [
      "keys create --app a --permission write --device .",
      "--device: device_id must not be . or .., which a path can't contain",
    ],
    [
      "keys create --app a --permission write --user ANONYMOUS",
      "--user: ANONYMOUS stands for reports without a user",
    ],
    [
      "keys create --app a --for osmand --permission read",
      "--for creates a key that reports: add --permission write",
    ],
    ["keys create --app a --permission write --url https://h", "--url goes with --for"],
    [
      "keys create --app a --for whatsapp",
      '--for must be one of owntracks, overland, traccar, osmand, gpslogger, opengts, colota, homeassistant, phonetrack, traccar-forward, not "whatsapp"',
    ],
    ["backup", "backup needs the directory of the backup"],
    ["restore a b", 'restore takes one directory, and "b" is one more'],
    [
      "backup data/local/x",
      'The backup "data/local/x" and the data directory "data/local" must not contain each other',
    ],
    ["backup a/.. --data-dir a", 'The backup "a/.." and the data directory "a" must not contain each other'],
    [
      "restore a --data-dir ./a",
      'The backup "a" and the new data directory "./a" must not contain each other',
    ],
    ["keys revoke", "keys revoke needs the id of a key, as keys list shows it"],
    ["keys link a b", 'keys link takes one id, and "b" is one more'],
    ["keys revoke a b", 'keys revoke takes one id, and "b" is one more'],
    ["doctor --url http://h", "doctor --url needs --key, or the key in WHEREHOUSE_KEY"],
    ["quarantine show x --url http://h", "quarantine show --url needs --key, or the key in WHEREHOUSE_KEY"],
    [
      `doctor --key ${KEY} --app shop`,
      "--app does not go with --key or WHEREHOUSE_KEY: a key belongs to one app",
    ],
    [
      "doctor all --key wh_x",
      "--key must be a whole key, as keys create printed it; a character is wrong or missing",
    ],
    ["keys passphrase", "keys passphrase needs the id of a key, as keys list shows it"],
    ["keys passphrase a secret", "keys passphrase takes one id, and prompts for the passphrase"],
    ["import --app a", "import needs at least one file or folder, or - for standard input"],
    ["import a.csv", "import needs --app, or --url with --key"],
    ["import - - --app a --format csv", "- can be given once"],
    ["import a --app a --shift +1h --shift-to-now", "--shift and --shift-to-now exclude each other"],
    [
      "import a --app a --shift 1h",
      '--shift must be a time with its sign such as +2h, -90m or +7d, not "1h"',
    ],
    ["import a --app a --from 2025-01-02 --to 2025-01-01", "--from must not be after --to"],
    [
      "import a --app a --from 2025-02-30",
      '--from must be a day or an instant, such as 2025-01-01 or 2025-01-01T12:00:00Z, not "2025-02-30"',
    ],
    [
      "import a --app a --map width=x",
      '--map must be a field of a report and a column of the file, such as latitude=Breite, not "width=x"',
    ],
    [
      "import a --app a --timezone Mars",
      '--timezone must be a time zone such as Europe/Berlin or +02:00, not "Mars"',
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
      "--show-device",
      "--not-before",
      "--precision",
      "--data-dir",
    ],
    "keys list": ["--json", "--data-dir"],
    "keys link": ["--url", "--data-dir"],
    "keys revoke": ["--data-dir"],
    "keys passphrase": ["--device", "--remove", "--data-dir"],
    import: ["--app", "--user", "--format", "--shift-to-now", "--url", "--key", "--data-dir"],
    doctor: ["--url", "--key", "--device", "--json", "--data-dir"],
    backup: ["--json", "--data-dir"],
    restore: ["--json", "--data-dir"],
    verify: ["--json", "--acknowledge", "--days", "--quick", "--data-dir"],
  } as const;
  for (const [topic, names] of Object.entries(options)) {
    const text = helpText(topic, NPM_PROGRAM);
    for (const name of names) expect(text).toContain(`\n  ${name}`);
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(110);
  }
});

test("helpText() of a group names each of its commands, in its usage and in its list", () => {
  for (const group of ["keys", "settings", "quarantine", "cluster", "map"]) {
    const names = commandsOf(group).map(({ name }) => name);
    const text = helpText(group, "w");
    const usage = text.split("\n", 1)[0]!;
    expect(usage.split(" ")[3]!.split("|")).toEqual(names.map((name) => name.slice(group.length + 1)));
    for (const name of names) expect(text).toContain(`\n  ${name} `);
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
