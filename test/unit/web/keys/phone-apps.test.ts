import { expect, test } from "bun:test";
import { SETUP_NAMES } from "../../../../src/clients/setup/setups.ts";
import { isLoopback, PHONE_APPS } from "../../../../src/web/keys/connect.ts";

test("every app is one that the server knows, and none that people have is left out", () => {
  const offered = PHONE_APPS.map(({ client }) => client).sort();
  const known = SETUP_NAMES.filter((name) => name !== "traccar-forward"); // A server, not a device.
  expect(offered).toEqual([...known].sort());
});

test("addresses that mean the phone itself are known", () => {
  expect(["localhost", "127.0.0.1", "127.1.2.3", "[::1]"].filter(isLoopback).length).toBe(4);
  expect(["192.168.1.20", "where.local", "localhost.example", "10.127.0.1"].filter(isLoopback)).toEqual([]);
});
