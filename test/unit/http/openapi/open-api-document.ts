import { Validator } from "@seriousme/openapi-schema-validator";
import { createTestApp } from "../../../support/test-app.ts";

/** The document as a server of ours hands it out, in the shape that tests look into. */

export interface Schema {
  readonly type?: string;
  readonly required?: readonly string[];
  readonly properties: Readonly<Record<string, Schema>>;
  readonly items: Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly description?: string;
  readonly example?: unknown;
}

interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly description: string;
    readonly schema: Schema;
    readonly example?: unknown;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string;
        readonly headers: Readonly<Record<string, unknown>>;
        readonly content: Readonly<Record<string, Media>>;
      }
    >
  >;
}

interface OpenApiDocument {
  readonly openapi: string;
  readonly info: {
    readonly version: string;
    readonly description: string;
    readonly license: { readonly name: string };
  };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly securitySchemes: Readonly<Record<string, unknown>>;
  };
}

export const app = await createTestApp();
export const text = await (await app.fetch("/docs")).text();
/** With every `$ref` replaced by what it names. */
export const document = await resolved(text);

async function resolved(json: string): Promise<OpenApiDocument> {
  const validator = new Validator();
  await validator.validate(JSON.parse(json));
  return validator.resolveRefs() as unknown as OpenApiDocument;
}

export function operationOf(endpoint: string): Operation {
  const [method = "", path = ""] = endpoint.split(" ");
  return document.paths[path]![method.toLowerCase()]!;
}

export function bodyOf(endpoint: string, status = "200"): Schema {
  return operationOf(endpoint).responses[status]!.content["application/json"]!.schema;
}

/** Member names, those that may be absent with a question mark. */
export function membersOf(schema: Schema): string[] {
  const { required = [], properties } = schema;
  return Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`));
}

/** The members of an object, those of the objects in it after a dot. */
export function deepMembersOf(schema: Schema, prefix = ""): string[] {
  return membersOf(schema).flatMap((name) => {
    const member = schema.properties[name.replace("?", "")]!;
    const inner =
      member.type === "object" && member.properties ? deepMembersOf(member, `${prefix}${name}.`) : [];
    return [`${prefix}${name}`, ...inner];
  });
}
