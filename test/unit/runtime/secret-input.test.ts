import { expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import { readSecretLine, readTypedLine } from "../../../src/runtime/secret-input.ts";

class FakeInput extends EventEmitter {
  readonly isTTY: boolean;
  readonly calls: string[] = [];

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }

  setRawMode(isRaw: boolean): void {
    this.calls.push(isRaw ? "raw" : "cooked");
  }

  resume(): void {
    this.calls.push("resume");
  }

  pause(): void {
    this.calls.push("pause");
  }
}

/** What is read of pieces, and in which order the stream was used. */
async function read(isTTY: boolean, pieces: readonly (string | Uint8Array)[], ends = false) {
  const input = new FakeInput(isTTY);
  const note = (call: string) => () => void input.calls.push(call);
  const line = readSecretLine(note("ask"), note("end"), input);
  for (const piece of pieces) input.emit("data", Buffer.from(piece));
  if (ends) input.emit("end");
  const text = await line;
  expect(input.listenerCount("data") + input.listenerCount("end")).toBe(0);
  return { text, calls: input.calls };
}

test("the first line of a pipe is read, with or without an end, without a prompt", async () => {
  expect(await read(false, ["s3c", "r1t\nmore"])).toEqual({ text: "s3cr1t", calls: ["resume", "pause"] });
  expect((await read(false, ["s3cr1t\r\n"])).text).toBe("s3cr1t");
  expect((await read(false, ["s3cr1t"], true)).text).toBe("s3cr1t");
  expect((await read(false, [" ü "], true)).text).toBe(" ü ");
  expect((await read(false, [], true)).text).toBe("");
  expect((await read(false, ["x".repeat(100_000)])).text?.length).toBe(4096);
  expect((await read(false, [new Uint8Array([0xff])], true)).text).toBeNull();
});

test("of a terminal nothing is shown while it is typed", async () => {
  expect(await read(true, ["s3c", "r1t\r"])).toEqual({
    text: "s3cr1t",
    calls: ["ask", "raw", "resume", "pause", "cooked", "end"],
  });
});

test("of a terminal what was mistyped can be taken back, a character at a time", async () => {
  expect((await read(true, ["ab\x7fc\x08\r"])).text).toBe("a");
  expect((await read(true, ["aü€\x7f\x7f\r"])).text).toBe("a");
  expect((await read(true, ["\x7f\x7fa\x04"])).text).toBe("a");
});

test("Ctrl-C gives up, and leaves the terminal as it was", async () => {
  expect(await read(true, ["s3cr\x03"])).toEqual({
    text: null,
    calls: ["ask", "raw", "resume", "pause", "cooked", "end"],
  });
});

test("an answer is typed on a terminal, which shows it; a pipe has none", async () => {
  const answerOf = (input: FakeInput) => readTypedLine(() => void input.calls.push("ask"), input);
  const terminal = new FakeInput(true);
  const line = answerOf(terminal);
  terminal.emit("data", Buffer.from("yes\n"));
  expect([await line, terminal.calls]).toEqual(["yes", ["ask", "resume", "pause"]]);
  const pipe = new FakeInput(false);
  expect([await answerOf(pipe), pipe.calls]).toEqual([null, []]);
});
