/* Child processes of a bench: each greets when it is ready, and answers one message after another. */

export interface Child<Message, Answer, Greeting = string> {
  readonly greeting: Greeting;
  ask(message: Message): Promise<Answer>;
  end(): Promise<void>;
}

export interface ChildOptions {
  /** The script that calls `answerParent`. */
  readonly path: string;
  /** The options, as JSON. */
  readonly options: unknown;
  /** A command prefix, e.g. to assign a core. */
  readonly launcher?: readonly string[];
}

export async function startChild<Message, Answer, Greeting = string>({
  path,
  options,
  launcher = [],
}: ChildOptions): Promise<Child<Message, Answer, Greeting>> {
  let said = Promise.withResolvers<unknown>();
  let isEnding = false;
  const child = Bun.spawn([...launcher, process.execPath, path, JSON.stringify(options)], {
    stdout: "inherit",
    stderr: "inherit",
    ipc: (message) => said.resolve(message),
    onExit: (_, code) => {
      if (!isEnding) said.reject(new Error(`${path} ended with code ${code}`));
    },
  });
  const greeting = (await said.promise) as Greeting;
  return {
    greeting,
    async ask(message) {
      said = Promise.withResolvers();
      child.send(message);
      return (await said.promise) as Answer;
    },
    async end() {
      isEnding = true;
      child.disconnect();
      await child.exited;
    },
  };
}

/** In the child: the options. */
export function childOptions<Options>(): Options {
  return JSON.parse(process.argv[2]!) as Options;
}

/** In the child: greets, and answers until the parent disconnects. */
export function answerParent<Message>(
  greeting: unknown,
  answer: (message: Message) => Promise<unknown>,
): void {
  process.on("message", async (message: Message) => process.send!(await answer(message)));
  process.on("disconnect", () => process.exit()); // Ends despite open connections.
  process.send!(greeting);
}
