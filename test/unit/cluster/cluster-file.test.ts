import { expect, test } from "bun:test";
import { readStreamAddress } from "../../../src/cluster/cluster-config.ts";
import {
  ClusterFileError,
  createClusterFile,
  parseClusterFile,
  readClusterFile,
  writeClusterFile,
} from "../../../src/cluster/cluster-file.ts";
import { FileError } from "../../../src/runtime/files.ts";
import { outcome } from "../../support/rejection.ts";
import { createMemoryKeyFiles } from "../auth/memory-key-files.ts";

const ADDRESS = { servers: ["n1.example:4222", "[::1]:4333"], isSecure: true, stream: "wherehouse" };
const TEXT = `{
  "version": 2,
  "nodeId": "0123456789abcdef",
  "servers": [
    "n1.example:4222",
    "[::1]:4333"
  ],
  "isSecure": true,
  "stream": "wherehouse",
  "created": "2026-11-23T13:45:37.123456789Z",
  "floor": 9007199254740991,
  "lastTaken": {
    "number": 9007199254740991,
    "id": "0123456789abcdef.1"
  }
}
`;
const bytesOf = (text: string) => new TextEncoder().encode(text);

test("cluster.json says which cluster a directory belongs to, and what it needs of the log", async () => {
  const files = createMemoryKeyFiles();
  expect(await readClusterFile(files, "/d")).toBeNull();
  const content = {
    nodeId: "0123456789abcdef",
    address: ADDRESS,
    created: "2026-11-23T13:45:37.123456789Z",
    floor: Number.MAX_SAFE_INTEGER,
    lastTaken: { number: Number.MAX_SAFE_INTEGER, id: "0123456789abcdef.1" },
  };
  await writeClusterFile(files, "/d", content);
  expect(new TextDecoder().decode(files.bytes!)).toBe(TEXT);
  expect(await readClusterFile(files, "/d")).toEqual(content);
});

test("a directory that joins has an id of its own, and needs the log from its first message", async () => {
  const [one, other] = [createClusterFile(ADDRESS), createClusterFile(ADDRESS)];
  expect(one).toEqual({ nodeId: one.nodeId, address: ADDRESS, created: null, floor: 1, lastTaken: null });
  expect(one.nodeId).not.toBe(other.nodeId);
  const files = createMemoryKeyFiles();
  await writeClusterFile(files, "/d", one);
  expect(await readClusterFile(files, "/d")).toEqual(one);
});

test.each([
  ["an older version", { version: 1 }, "it has format version 1 of a program from before the first release"],
  ["a newer version", { version: 3 }, "it has format version 3 of a newer program"],
  ["no servers", { servers: [] }, "the address of its cluster"],
  ["a server without a port", { servers: ["n1.example"] }, "the address of its cluster"],
  ["a server that is no text", { servers: [7] }, "the address of its cluster"],
  ["no word of TLS", { isSecure: null }, "the address of its cluster"],
  ["a stream that can't be", { stream: "a.b" }, "the address of its cluster"],
  ["another node id", { nodeId: "0123" }, "the id of its node"],
  ["a creation that is a number", { created: 7 }, "when its stream was created"],
  ["a floor of 0", { floor: 0 }, "the first message that it needs"],
  ["an invalid floor", { floor: 1.5 }, "the first message that it needs"],
  ["no last message", { lastTaken: undefined }, "the last message that it took"],
  ["a last message 0", { lastTaken: { number: 0, id: "a" } }, "the last message that it took"],
  ["a last message without an id", { lastTaken: { number: 7 } }, "the last message that it took"],
])("a file with %s is refused", async (_, members, reason) => {
  const text = JSON.stringify({ ...JSON.parse(TEXT), ...members });
  expect(parseClusterFile(bytesOf(text))).toMatchObject({ error: expect.stringContaining(reason) });
  const files = createMemoryKeyFiles();
  files.bytes = bytesOf(text);
  const read = readClusterFile(files, "/d");
  expect(await outcome(read)).toThrow(ClusterFileError);
  expect(await outcome(read)).toThrow(`/d/cluster.json can't be used: ${reason}`);
});

test("the last message is remembered whatever its id: a file that is written can be read", async () => {
  const files = createMemoryKeyFiles();
  for (const id of ["", "x".repeat(60_000), 'odd "\u{1F68C}"']) {
    const content = { ...createClusterFile(ADDRESS), lastTaken: { number: 7, id } };
    await writeClusterFile(files, "/d", content);
    expect(await readClusterFile(files, "/d")).toEqual(content);
  }
});

test("a directory that can't be looked into is not taken for that of a single process", async () => {
  const files = createMemoryKeyFiles();
  files.readError = "EIO";
  expect(await outcome(readClusterFile(files, "/d"))).toThrow(FileError);
});

test("readStreamAddress() brings what files hold of the way in", async () => {
  const texts = new Map([
    ["/ca.pem", "CA"],
    ["/node.creds", "CREDS"],
  ]);
  const files = {
    async read(path: string) {
      const text = texts.get(path);
      if (text === undefined) throw new FileError("read", path, "ENOENT");
      return bytesOf(text);
    },
  };
  const user = { kind: "user", user: "u", password: "p" } as const;
  expect(await readStreamAddress(ADDRESS, { credentials: null, authoritiesFile: null }, files)).toEqual({
    ...ADDRESS,
    credentials: null,
    authorities: null,
  });
  expect(await readStreamAddress(ADDRESS, { credentials: user, authoritiesFile: null }, files)).toMatchObject(
    { credentials: user },
  );
  const access = { credentials: { kind: "file", path: "/node.creds" }, authoritiesFile: "/ca.pem" } as const;
  expect(await readStreamAddress(ADDRESS, access, files)).toEqual({
    ...ADDRESS,
    credentials: { kind: "file", text: "CREDS" },
    authorities: "CA",
  });
  texts.delete("/node.creds");
  expect(await outcome(readStreamAddress(ADDRESS, access, files))).toThrow(FileError);
});
