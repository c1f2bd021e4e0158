import { join } from "node:path";

/** The order for an attacker. */
export interface AttackOrder {
  readonly shape: string;
  readonly url: string;
  readonly key: string;
  readonly bodyBytes: number;
  readonly devices: number;
}

/** The attacker's actions, counted by outcome: a word or a status. */
export type Outcomes = Readonly<Record<string, number>>;

/** An attacker that is ready to send. */
export interface ArmedAttack {
  begin(): void;
  /** Closes all its connections. */
  end(): Promise<Outcomes>;
}

const PROGRAM = join(import.meta.dir, "attacker.ts");

export async function armAttack(order: AttackOrder): Promise<ArmedAttack> {
  const child = Bun.spawn([process.execPath, PROGRAM, JSON.stringify(order)], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const said = linesOf(child.stdout);
  const tell = (word: string) => {
    child.stdin.write(`${word}\n`);
    child.stdin.flush();
  };
  const hear = async () => {
    const { value, done } = await said.next();
    if (done) throw new Error(`the attacker of ${order.shape} ended with ${await child.exited}`);
    return value;
  };
  await hear(); // "armed"
  return {
    begin: () => tell("go"),
    async end() {
      tell("stop");
      const outcomes = JSON.parse(await hear()) as Outcomes;
      await child.exited;
      return outcomes;
    },
  };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let text = "";
  for await (const bytes of stream) {
    text += new TextDecoder().decode(bytes);
    const lines = text.split("\n");
    text = lines.pop()!;
    yield* lines;
  }
}
