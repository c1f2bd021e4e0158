import type { operations, paths } from "./schema.d.ts";

/* The types of questions and answers, by the server's own document. */

/** Paths that can be asked. */
export type Question = {
  [Path in keyof paths]: paths[Path] extends { readonly get: { readonly responses: object } } ? Path : never;
}[keyof paths];

type Got<Path extends Question> = paths[Path] extends { readonly get: infer Operation } ? Operation : never;

type ParametersOf<Path extends Question> =
  Got<Path> extends { readonly parameters: infer Parameters } ? Parameters : never;

export type QueryOf<Path extends Question> =
  ParametersOf<Path> extends { readonly query?: infer Query } ? NonNullable<Query> : never;

/** The answer of a path in JSON. */
export type AnswerOf<Path extends Question> =
  Got<Path> extends {
    readonly responses: { readonly 200: { readonly content: { readonly "application/json": infer Answer } } };
  }
    ? Answer
    : never;

/** The one member of an answer that is a list of objects. */
export type ItemOf<Answer> = {
  [Name in keyof Answer]: Answer[Name] extends readonly (infer Item extends object)[] ? Item : never;
}[keyof Answer];

/** What a page has: whole records, unless the question asks for some `fields`. */
export type PageItemOf<Path extends Question, Query> = Query extends { readonly fields: string }
  ? ItemOf<AnswerOf<Path>>
  : Whole<ItemOf<AnswerOf<Path>>>;

type Whole<Item> = [Extract<Item, Position>] extends [never] ? Item : Extract<Item, Position>;

interface Position {
  readonly latitude: number;
  readonly longitude: number;
  readonly user_id: string;
}

/** A record with all fields that it has. */
export type DeviceRecord = Whole<ItemOf<AnswerOf<"/api/v1/locations/current">>>;

type Sent = operations["postLocations"]["requestBody"]["content"]["application/json"];
/** A report of a position. */
export type Report = Extract<Sent, { readonly latitude: number }>;
