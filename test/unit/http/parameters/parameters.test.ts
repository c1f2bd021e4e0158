import { describe, expect, test } from "bun:test";
import { createTestApp, NOON_MS } from "../../../support/test-app.ts";
import { BUS, READ_PATHS, type ReadEndpoint, withQuery } from "../requests.ts";

/**
 * Every query parameter at its bounds and beyond: specification §4 and §8, contract §2 ("Numbers are plain
 * decimals", "A parameter given twice is an error", "names the parameter and the bound it broke").
 */

const app = await createTestApp();
await app.store([{ ...BUS, timestamp: NOON_MS }]);

const ALL = Object.keys(READ_PATHS) as ReadEndpoint[];
const HISTORIES: readonly ReadEndpoint[] = ["userHistory", "deviceHistory", "appHistory"];
const WITH_LIMIT = ["userCurrent", ...HISTORIES, "appCurrent", "nearby"] satisfies ReadEndpoint[];
const WITH_OFFSET = [...HISTORIES, "appCurrent", "nearby"] satisfies ReadEndpoint[];
const SAFE_MAX = "9007199254740991";

async function expectTaken(endpoint: ReadEndpoint, name: string, value: string) {
  const { status, body } = await app.get(withQuery(endpoint, `${name}=${encodeURIComponent(value)}`));
  if (status !== 200) expect(`${name}=${value}: ${body.message}`).toBe("taken");
}

async function expectRefused(endpoint: ReadEndpoint, query: string, message: string) {
  const { status, body } = await app.get(withQuery(endpoint, query));
  expect({ query, status, body: body as unknown }).toEqual({
    query,
    status: 400,
    body: { success: false, message },
  });
}

/** What is no integer, whatever the bounds; `+5` is sent encoded, so that it stays a plus. */
const NO_INTEGERS = [
  "",
  " ",
  " 10",
  "10 ",
  "1 0",
  "+5",
  "0x10",
  "0b1",
  "1e2",
  "1E2",
  "1.0",
  "1.5",
  ".5",
  "5.",
];
const NO_INTEGER_WORDS = [
  "NaN",
  "Infinity",
  "-Infinity",
  "true",
  "null",
  "ten",
  "1,000",
  "1_000",
  "--1",
  "-",
  "१०",
  "10\n",
];
const NO_NUMBERS = NO_INTEGERS.filter((text) => text !== "1.0" && text !== "1.5").concat(NO_INTEGER_WORDS);

interface IntegerCase {
  readonly name: string;
  readonly endpoints: readonly ReadEndpoint[];
  readonly taken: readonly string[];
  readonly refused: readonly (readonly [string, string])[];
}

const FROM_ZERO = {
  taken: ["0", "1", "007", "86400", SAFE_MAX],
  refused: [
    ["-1", "must be at least 0"],
    ["-99999999999999999999", "must be at least 0"],
    ["9007199254740992", `must be at most ${SAFE_MAX}`],
    ["99999999999999999999", `must be at most ${SAFE_MAX}`],
  ],
} as const;

const BEYOND_INT64 = "must be between -9223372036854775808 and 9223372036854775807";

const INSTANT = {
  taken: ["0", "-1", "1774008000000", "-9223372036854775808", "9223372036854775807"],
  refused: [
    ["99999999999999999999", BEYOND_INT64],
    ["-99999999999999999999", BEYOND_INT64],
    ["9223372036854775808", BEYOND_INT64],
    ["-9223372036854775809", BEYOND_INT64],
  ],
} as const;

const INTEGERS: readonly IntegerCase[] = [
  {
    name: "limit",
    endpoints: WITH_LIMIT,
    taken: ["1", "2", "100", "0100", "999", "1000"],
    refused: [
      ["0", "must be between 1 and 1000"],
      ["-1", "must be between 1 and 1000"],
      ["1001", "must be between 1 and 1000"],
      ["99999999999999999999", "must be between 1 and 1000"],
    ],
  },
  { name: "offset", endpoints: WITH_OFFSET, ...FROM_ZERO },
  { name: "max_age", endpoints: ["userCurrent", "userDevices"], ...FROM_ZERO },
  { name: "accuracy", endpoints: ["userCurrent"], ...FROM_ZERO },
  { name: "timestamp_after", endpoints: ["appCurrent"], ...INSTANT },
  { name: "timestamp_before", endpoints: ["appCurrent"], ...INSTANT },
];

describe.each([...INTEGERS])("the integer $name", ({ name, endpoints, taken, refused }) => {
  test.each([...endpoints])("of %s", async (endpoint) => {
    for (const value of taken) await expectTaken(endpoint, name, value);
    for (const [value, rule] of refused) await expectRefused(endpoint, `${name}=${value}`, `${name} ${rule}`);
    for (const value of [...NO_INTEGERS, ...NO_INTEGER_WORDS]) {
      const query = `${name}=${encodeURIComponent(value)}`;
      await expectRefused(endpoint, query, `${name} must be an integer`);
    }
    await expectRefused(endpoint, name, `${name} must be an integer`); // Without `=` it is empty.
    await expectRefused(endpoint, `${name}=+5`, `${name} must be an integer`); // A bare plus is a space.
  });
});

const DOUBLE_MAX = "1.7976931348623157e+308";

const NUMBERS: readonly IntegerCase[] = [
  {
    name: "min_accuracy",
    endpoints: ["deviceHistory", "appHistory"],
    taken: ["0", "0.0", "0.5", "1000", "1000.000"],
    refused: [
      ["-0.1", "must be between 0 and 1000"],
      ["1000.1", "must be between 0 and 1000"],
      ["1001", "must be between 0 and 1000"],
    ],
  },
  {
    name: "min_accuracy",
    endpoints: ["nearby"],
    taken: ["0", "0.25", "1001", "99999999999999999999"],
    refused: [
      ["-0.1", "must be at least 0"],
      ["9".repeat(400), `must be at most ${DOUBLE_MAX}`],
    ],
  },
  {
    name: "radius_miles",
    endpoints: ["nearby"],
    taken: ["0", "0.001", "5", "49.999", "50", "50.0"],
    refused: [
      ["-0.001", "must be between 0 and 50"],
      ["50.0001", "must be between 0 and 50"],
      ["99999999999999999999", "must be between 0 and 50"],
    ],
  },
  {
    name: "max_age_hours",
    endpoints: ["nearby"],
    taken: ["0", "0.5", "24", "8760", "99999999999999999999"],
    refused: [
      ["-1", "must be at least 0"],
      ["-0.5", "must be at least 0"],
      ["9".repeat(400), `must be at most ${DOUBLE_MAX}`],
    ],
  },
];

describe.each([...NUMBERS])("the number $name", ({ name, endpoints, taken, refused }) => {
  test.each([...endpoints])("of %s", async (endpoint) => {
    for (const value of taken) await expectTaken(endpoint, name, value);
    for (const [value, rule] of refused) await expectRefused(endpoint, `${name}=${value}`, `${name} ${rule}`);
    for (const value of NO_NUMBERS) {
      const query = `${name}=${encodeURIComponent(value)}`;
      await expectRefused(endpoint, query, `${name} must be a number in plain decimals`);
    }
  });
});

test("latitude and longitude are needed, and bounded", async () => {
  const ask = async (query: string): Promise<unknown> => {
    const { status, body } = await app.get(`/api/v1/devices/nearby?${query}`);
    return status === 200 ? "taken" : { status, ...body };
  };
  const refusal = (message: string) => ({ status: 400, success: false, message });
  expect(await ask("")).toEqual(refusal("latitude is required"));
  expect(await ask("longitude=0")).toEqual(refusal("latitude is required"));
  expect(await ask("latitude=0")).toEqual(refusal("longitude is required"));
  for (const value of ["90", "-90", "90.0", "0", "-0", "89.99999999999999"]) {
    expect(await ask(`latitude=${value}&longitude=0`)).toBe("taken");
  }
  for (const value of ["180", "-180", "180.000", "0", "-0", "179.99999999999997"]) {
    expect(await ask(`latitude=0&longitude=${value}`)).toBe("taken");
  }
  for (const value of ["90.0001", "-90.0001", "91", "90.00000000000002", "1".repeat(400)]) {
    expect(await ask(`latitude=${value}&longitude=0`)).toEqual(
      refusal("latitude must be between -90 and 90"),
    );
  }
  for (const value of ["180.0001", "-180.0001", "181", "-99999999999999999999"]) {
    expect(await ask(`latitude=0&longitude=${value}`)).toEqual(
      refusal("longitude must be between -180 and 180"),
    );
  }
  for (const name of ["latitude", "longitude"]) {
    const other = name === "latitude" ? "longitude=0" : "latitude=0";
    for (const value of [...NO_NUMBERS]) {
      expect(await ask(`${other}&${name}=${encodeURIComponent(value)}`)).toEqual(
        refusal(`${name} must be a number in plain decimals`),
      );
    }
  }
});

const WORDS = [
  { name: "active_only", endpoints: ["userDevices"], words: ["true", "false"] },
  { name: "distance_travelled", endpoints: ["userHistory", "deviceHistory"], words: ["true", "false"] },
  { name: "order", endpoints: HISTORIES, words: ["asc", "desc"] },
] as const;

describe.each([...WORDS])("$name", ({ name, endpoints, words }) => {
  test.each([...endpoints])("of %s is one of two words, as written", async (endpoint) => {
    for (const word of words) await expectTaken(endpoint, name, word);
    const others = [
      "",
      "1",
      "0",
      "yes",
      "True",
      "TRUE",
      " true",
      "true ",
      "ASC",
      "Desc",
      "ascending",
      "null",
    ];
    for (const word of others) {
      const query = `${name}=${encodeURIComponent(word)}`;
      await expectRefused(endpoint, query, `${name} must be ${words.join(" or ")}`);
    }
  });
});

const PARAMETERS: Readonly<Record<ReadEndpoint, readonly string[]>> = {
  userCurrent: ["max_age=5", "accuracy=5", "limit=5", "timezone=UTC"],
  userHistory: [
    "start_date=2026-03-20",
    "end_date=2026-03-20",
    "limit=5",
    "offset=5",
    "timezone=UTC",
    "distance_travelled=true",
    "order=asc",
  ],
  userDevices: ["active_only=true", "max_age=5"],
  deviceCurrent: ["timezone=UTC"],
  deviceHistory: [
    "start_date=2026-03-20",
    "end_date=2026-03-20",
    "limit=5",
    "offset=5",
    "min_accuracy=5",
    "timezone=UTC",
    "distance_travelled=true",
    "order=asc",
  ],
  appCurrent: ["limit=5", "offset=5", "timestamp_after=5", "timestamp_before=5", "timezone=UTC"],
  appHistory: [
    "start_date=2026-03-20",
    "end_date=2026-03-20",
    "limit=5",
    "offset=5",
    "min_accuracy=5",
    "timezone=UTC",
    "order=asc",
  ],
  nearby: ["radius_miles=5", "max_age_hours=5", "limit=5", "offset=5", "min_accuracy=5", "timezone=UTC"],
};

test.each([...ALL])("a parameter of %s given twice is an error, even twice the same", async (endpoint) => {
  for (const pair of PARAMETERS[endpoint]) {
    const name = pair.split("=")[0]!;
    const encodedName = `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`;
    expect((await app.get(withQuery(endpoint, pair))).status).toBe(200);
    for (const again of [pair, `${name}=other`, `${name}=`, name, pair.replace(name, encodedName)]) {
      await expectRefused(endpoint, `${pair}&x=1&${again}`, `${name} must not be repeated`);
    }
  }
  expect((await app.get(withQuery(endpoint, PARAMETERS[endpoint].join("&")))).status).toBe(200);
});

test("the centre given twice is an error too", async () => {
  await expectRefused("nearby", "latitude=53.4", "latitude must not be repeated");
  await expectRefused("nearby", "longitude=-2.9", "longitude must not be repeated");
});

test.each([...ALL])("parameters that %s does not know are ignored", async (endpoint) => {
  const measured = { query_time_ms: 0, query_info: { query_time_ms: 0 } };
  const timeless = (body: object) => JSON.parse(JSON.stringify({ ...body, ...measured }));
  const plain = await app.get(withQuery(endpoint, ""));
  const unknown = [
    "foo=1&foo=2",
    "LIMIT=0&Offset=-1",
    "limit%20=0",
    "limit[]=0",
    "order_by=x",
    "=",
    "&&&",
    "__proto__=1",
  ];
  const known = new Set(PARAMETERS[endpoint].map((pair) => pair.split("=")[0]!));
  const ofOthers = [
    "radius_miles=x",
    "active_only=x",
    "distance_travelled=x",
    "timestamp_after=x",
    "order=x",
  ];
  for (const query of [...unknown, ...ofOthers.filter((pair) => !known.has(pair.split("=")[0]!))]) {
    const { status, body } = await app.get(withQuery(endpoint, query));
    expect(status).toBe(200);
    expect(timeless(body)).toEqual(timeless(plain.body));
  }
});
