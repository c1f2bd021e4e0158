import { connect } from "node:net";

/** Tells where answers end in what a server sends, and looks at nothing else: one for each connection. */
export interface AnswerCounter {
  /** How many answers end in these bytes. Throws where the server refuses. */
  take(bytes: Uint8Array): number;
}

/** How a server is spoken to. */
export interface Protocol {
  /** What a connection says before the first question, e.g. to log in. */
  readonly greeting: Uint8Array;
  /** Answers to the greeting. */
  readonly greetingAnswers: number;
  createCounter(): AnswerCounter;
}

/** Asks one question at a time. */
export interface Connection {
  /** Sends a question; resolves with the size of its answer once that is complete. */
  ask(question: Uint8Array): Promise<number>;
  /** The same, with the answer's bytes. */
  read(question: Uint8Array): Promise<Buffer>;
  close(): Promise<void>;
}

/** Connects to a port of this machine over a plain socket: a client library would take time of its own. */
export async function openConnection(port: number, protocol: Protocol): Promise<Connection> {
  const counter = protocol.createCounter();
  const socket = connect(port, "127.0.0.1");
  socket.setNoDelay(true);
  let missing = 0; // Answers still to come.
  let answerBytes = 0;
  let kept: Buffer[] | null = null;
  let fault: Error | null = null;
  let settled: () => void = () => {};

  function fail(error: Error): void {
    fault ??= error;
    socket.destroy();
    settled();
  }

  socket.on("error", fail);
  socket.on("close", () => fail(new Error("the server closed the connection")));
  socket.on("data", (bytes: Buffer) => {
    answerBytes += bytes.length;
    kept?.push(bytes);
    try {
      missing -= counter.take(bytes);
    } catch (error) {
      fail(error as Error);
    }
    if (missing === 0) settled();
  });

  async function send(bytes: Uint8Array, answers: number): Promise<void> {
    missing = answers;
    answerBytes = 0;
    await new Promise<void>((resolve) => {
      settled = resolve;
      if (fault !== null) resolve();
      else socket.write(bytes);
    });
    if (fault !== null) throw fault;
  }

  await new Promise<void>((resolve) => {
    settled = resolve;
    socket.once("connect", resolve);
  });
  if (fault !== null) throw fault;
  if (protocol.greetingAnswers > 0) await send(protocol.greeting, protocol.greetingAnswers);
  return {
    async ask(question) {
      await send(question, 1);
      return answerBytes;
    },
    async read(question) {
      kept = [];
      await send(question, 1);
      const answer = Buffer.concat(kept);
      kept = null;
      return answer;
    },
    async close() {
      socket.destroy();
      if (!socket.closed) await new Promise((resolve) => socket.once("close", resolve));
    },
  };
}
