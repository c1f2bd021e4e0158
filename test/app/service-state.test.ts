import { expect, test } from "bun:test";
import { ServiceState } from "../../src/app/service-state.ts";

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
