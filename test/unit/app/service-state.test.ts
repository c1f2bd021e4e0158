import { expect, test } from "bun:test";
import type { OpenDirectory } from "../../../src/app/directory.ts";
import { ServiceState } from "../../../src/app/service-state.ts";

test("a service that is told to stop while it replays its log says no more that it starts", () => {
  const state = new ServiceState();
  state.noteReplayed(10, 30);
  expect(state.readiness).toEqual({ status: "starting", replayed: 10, total: 30 });
  state.noteStopping();
  state.noteReplayed(20, 30);
  expect(state.readiness).toEqual({ status: "stopping" });
  expect(state.start).toEqual({ isReady: false, replayedBytes: 20, totalBytes: 30 });
});

test("nothing passes for an opened directory before there is one", () => {
  const state = new ServiceState();
  expect(state.directory).toBeNull();
  expect(() => state.opened()).toThrow("no request passes the gate");
});

test("a node is ready once its directory is open, for as long as it does not lag by more than ten seconds", () => {
  const state = new ServiceState();
  expect([state.cluster, state.liveNodes]).toEqual([null, 1]);
  const node: { lagMs: number | null; liveCount: number } = { lagMs: null, liveCount: 3 };
  state.noteCluster(node);
  state.noteReplayed(10, 30);
  expect(state.readiness.status).toBe("starting");
  expect(state.noteOpened(NO_DIRECTORY)).toBe(true);
  const looks = [null, 0, 10_000, 10_001, 9].map((lagMs) => {
    node.lagMs = lagMs;
    return [state.readiness, state.start.isReady];
  });
  expect(looks).toEqual([
    [{ status: "ready", lagMs: null }, true],
    [{ status: "ready", lagMs: 0 }, true],
    [{ status: "ready", lagMs: 10_000 }, true],
    [{ status: "lagging", lagMs: 10_001 }, false],
    [{ status: "ready", lagMs: 9 }, true],
  ]);
  expect(state.liveNodes).toBe(3);
  state.noteStopping();
  node.lagMs = 20_000;
  expect(state.readiness).toEqual({ status: "stopping" });
});

/** Which no test of these looks into. */
const NO_DIRECTORY = {} as OpenDirectory;
