import type { CDPSession, Page } from "playwright-core";
import { until } from "../../../support/until.ts";

/**
 * Asks the page's one object of a class, which nothing on the page names: the browser finds it by its prototype. The
 * function runs in the page, so it knows nothing of what stands around it here.
 */
export async function askPart<Part, Argument, Answer>(
  page: Page,
  name: PartName<Part>,
  ask: (part: Part, argument: Argument) => Answer,
  argument: Argument,
): Promise<Awaited<Answer>> {
  const { session, known } = await inspect(page);
  const [, className, isReplaced = false] = name;
  const before = known.get(className);
  if (before !== undefined && !isReplaced) {
    const answer = await call(session, before, ask, argument);
    if (answer !== null) return answer.value;
  }
  const objectId = await findObject(session, name);
  known.set(className, objectId);
  const answer = await call(session, objectId, ask, argument);
  if (answer === null) throw new Error(`The page's ${className} went away.`);
  return answer.value;
}

/** The module below `src/web`, or a package, and the class that it exports; and whether there are others in turn. */
export type PartName<_Part> = readonly [module: string, className: string, isReplaced?: boolean];

interface Inspected {
  readonly session: CDPSession;
  /** By class: to find an object, the browser collects its garbage and looks through all that is left. */
  readonly known: Map<string, string>;
}

const inspected = new WeakMap<Page, Inspected>();

async function inspect(page: Page): Promise<Inspected> {
  let each = inspected.get(page);
  if (each === undefined) {
    each = { session: await page.context().newCDPSession(page), known: new Map() };
    inspected.set(page, each);
  }
  return each;
}

/** Null where the object was of a page that has been left. */
async function call<Part, Argument, Answer>(
  session: CDPSession,
  objectId: string,
  ask: (part: Part, argument: Argument) => Answer,
  argument: Argument,
): Promise<{ readonly value: Awaited<Answer> } | null> {
  const called = await session
    .send("Runtime.callFunctionOn", {
      objectId,
      functionDeclaration: `function (argument) {
        return (${ask})(this, argument);
      }`,
      arguments: [{ value: argument }],
      returnByValue: true,
      awaitPromise: true,
    })
    .catch((error: Error) => {
      if (/Cannot find context|Could not find object|context was destroyed/.test(error.message)) return null;
      throw error;
    });
  if (called === null) return null;
  const { exceptionDetails, result } = called;
  if (exceptionDetails !== undefined)
    throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return { value: result.value };
}

const WAIT_MS = 45_000;

/** The page's one object of the class, once that has been made. */
async function findObject(session: CDPSession, [module, className]: PartName<unknown>): Promise<string> {
  const endMs = performance.now() + WAIT_MS;
  let objectId: string | undefined;
  await until(async () => {
    const prototype = await session.send("Runtime.evaluate", {
      expression: `import(${module.endsWith(".ts") ? ownModule(module) : JSON.stringify(module)})
        .then((module) => module.${className}.prototype)`,
      awaitPromise: true,
    });
    const { objects } = await session.send("Runtime.queryObjects", {
      prototypeObjectId: prototype.result.objectId!,
    });
    const { result } = await session.send("Runtime.callFunctionOn", {
      objectId: objects.objectId!,
      functionDeclaration: "function () { return this.length === 1 ? this[0] : this.length; }",
    });
    objectId = result.objectId;
    if (objectId === undefined && performance.now() > endMs)
      throw new Error(`The page has ${result.value} objects of ${className}.`);
    return objectId !== undefined;
  });
  return objectId!;
}

function ownModule(path: string): string {
  return `document.querySelector('script[src*="/page/main.ts"]').src.replace("page/main.ts", "${path}")`;
}
