import type { CDPSession, Page } from "playwright-core";

/**
 * Asks the page's one object of a class, which nothing on the page names: the browser finds it by its prototype. The
 * function runs in the page, so it knows nothing of what stands around it here.
 */
export async function askPart<Part, Argument, Answer>(
  page: Page,
  [module, className]: PartName<Part>,
  ask: (part: Part, argument: Argument) => Answer,
  argument: Argument,
): Promise<Awaited<Answer>> {
  const session = await page.context().newCDPSession(page);
  try {
    const prototype = await session.send("Runtime.evaluate", {
      expression: `import(${module.endsWith(".ts") ? ownModule(module) : JSON.stringify(module)})
        .then((module) => module.${className}.prototype)`,
      awaitPromise: true,
    });
    const objectId = await findObjects(session, prototype.result.objectId!, className);
    const called = await session.send("Runtime.callFunctionOn", {
      objectId,
      functionDeclaration: `function (argument) {
        return (${ask})(this[0], argument);
      }`,
      arguments: [{ value: argument }],
      returnByValue: true,
      awaitPromise: true,
    });
    const { exceptionDetails } = called;
    if (exceptionDetails !== undefined)
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return called.result.value;
  } finally {
    await session.detach();
  }
}

function ownModule(path: string): string {
  return `document.querySelector('script[src*="/page/main.ts"]').src.replace("page/main.ts", "${path}")`;
}

/** The module below `src/web`, or a package, and the class that it exports. */
export type PartName<_Part> = readonly [module: string, className: string];

const WAIT_MS = 15_000;

/** The list of the page's one object with this prototype, once that has been made. */
async function findObjects(
  session: CDPSession,
  prototypeObjectId: string,
  className: string,
): Promise<string> {
  for (const endMs = performance.now() + WAIT_MS; ; ) {
    const found = await session.send("Runtime.queryObjects", { prototypeObjectId });
    const objectId = found.objects.objectId!;
    const { result } = await session.send("Runtime.callFunctionOn", {
      objectId,
      functionDeclaration: "function () { return this.length; }",
      returnByValue: true,
    });
    if (result.value === 1) return objectId;
    if (performance.now() > endMs) throw new Error(`The page has ${result.value} objects of ${className}.`);
    await Bun.sleep(50);
  }
}
