import type { DocumentDecoration } from "elysia";
import type { AnswerName } from "./describe-answers.ts";
import { exampleOf } from "./describe-errors.ts";
import { describeQuery, exampleOfRefused, type Parameters } from "./describe-parameters.ts";
import { answer, failure, SENT_WITH_KEY, shared } from "./describe-responses.ts";
import type { Schema } from "./parameter.ts";

type Tag = "Users" | "Devices" | "App" | "Nearby" | "Ingest" | "Service";

interface Operation {
  readonly operationId: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Schema[];
  readonly requestBody?: Schema;
  readonly needsKey: boolean;
  /** By status. */
  readonly responses: Readonly<Record<number, Schema>>;
}

/** What the document says of one route, as the route carries it. */
export function describeOperation(operation: Operation): DocumentDecoration {
  const { tag, needsKey, responses, ...rest } = operation;
  // Elysia's own type spells out every keyword, in mutable arrays; `object` is as far as both agree.
  const described: object = {
    ...rest,
    tags: [tag],
    security: needsKey ? [{ apiKey: [] }] : [],
    responses: { ...responses, 405: shared("WrongMethod"), 500: shared("ServerError") },
  };
  return described;
}

interface Question extends Omit<Operation, "needsKey" | "parameters" | "requestBody"> {
  readonly path?: Schema;
  readonly query: Parameters;
  readonly answer: readonly [body: AnswerName, description: string];
}

/** A route that answers a question about the app of the key: its `responses` are those of its own. */
export function describeQuestion({ path, query, answer: [body, said], ...question }: Question) {
  return describeOperation({
    ...question,
    description: `${question.description} Needs the permission \`read\`.`,
    parameters: [...(path === undefined ? [] : [path]), ...describeQuery(query)],
    needsKey: true,
    responses: {
      200: answer(body, said, SENT_WITH_KEY),
      401: shared("Unauthorized"),
      403: shared("NoRead"),
      429: shared("TooMany"),
      503: shared("Unavailable"),
      ...question.responses,
    },
  });
}

/** 400 for a wrong parameter; `wrong` is a query that gets one. */
export function refusedQuery(parameters: Parameters, wrong: string): Schema {
  return failure(
    "A parameter is invalid.",
    SENT_WITH_KEY,
    ["PlainError"],
    refusedExamples(parameters, wrong),
  );
}

/** 400 where the path names a user: that may be wrong besides. */
export function refusedUserQuery(parameters: Parameters, wrong: string): Schema {
  return failure(
    "A parameter is invalid, or the user id is blank or ANONYMOUS.",
    SENT_WITH_KEY,
    ["PlainError", "UserIdError"],
    {
      ...refusedExamples(parameters, wrong),
      invalid_user_id: exampleOf({ kind: "invalid_user_id", message: "user_id must not be ANONYMOUS" }),
    },
  );
}

function refusedExamples(parameters: Parameters, wrong: string): Readonly<Record<string, unknown>> {
  return {
    invalid_parameter: exampleOfRefused(parameters, wrong),
    ...("timezone" in parameters
      ? { invalid_timezone: exampleOfRefused(parameters, "timezone=Mars/Olympus&latitude=0&longitude=0") }
      : {}),
  };
}
