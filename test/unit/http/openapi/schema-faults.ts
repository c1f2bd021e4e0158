/** A JSON Schema as OpenAPI 3.0 writes it, as far as the service's own document goes. */
export interface Schema {
  readonly $ref?: string;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly type?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
}

type Members = Readonly<Record<string, unknown>>;

/** What a `$ref` names, such as `#/components/schemas/Health`. */
export function resolveRef<Value>(document: unknown, value: Value | { readonly $ref: string }): Value {
  if (typeof value !== "object" || value === null || !("$ref" in value)) return value as Value;
  let found: unknown = document;
  for (const part of value.$ref.split("/").slice(1)) found = (found as Members)[part];
  if (found === undefined) throw new Error(`${value.$ref} is not in the document`);
  return found as Value;
}

/** Everything about a value that a schema does not allow, by where it is. */
export function schemaFaults(document: unknown, schema: Schema, value: unknown, at = "body"): string[] {
  const { oneOf, anyOf, ...rules } = resolveRef<Schema>(document, schema as Schema & { $ref: string });
  if (oneOf !== undefined) {
    const faults = oneOf.map((each) => schemaFaults(document, each, value, at));
    const fitting = faults.filter((each) => each.length === 0).length;
    return fitting === 1
      ? []
      : [`${at} fits ${fitting} of ${oneOf.length} shapes: ${JSON.stringify(faults)}`];
  }
  if (anyOf !== undefined) {
    const faults = anyOf.map((each) => schemaFaults(document, each, value, at));
    return faults.some((each) => each.length === 0) ? [] : [`${at} fits no shape: ${JSON.stringify(faults)}`];
  }
  if (value === null && rules.nullable === true) return [];
  if (!isOfType(value, rules.type)) return [`${at} is no ${rules.type}: ${JSON.stringify(value)}`];
  const faults: string[] = [];
  if (rules.enum !== undefined && !rules.enum.includes(value)) faults.push(`${at} is none of ${rules.enum}`);
  if (typeof value === "number") {
    if (value < (rules.minimum ?? -Infinity) || value > (rules.maximum ?? Infinity)) {
      faults.push(`${at} is out of bounds: ${value}`);
    }
  } else if (typeof value === "string") {
    const characters = [...value].length;
    if (characters < (rules.minLength ?? 0) || characters > (rules.maxLength ?? Infinity)) {
      faults.push(`${at} has ${characters} characters`);
    }
    if (rules.pattern !== undefined && !new RegExp(rules.pattern, "u").test(value)) {
      faults.push(`${at} does not match ${rules.pattern}`);
    }
  } else if (Array.isArray(value)) {
    if (value.length > (rules.maxItems ?? Infinity)) faults.push(`${at} has ${value.length} items`);
    value.forEach((item, i) => {
      faults.push(...schemaFaults(document, rules.items ?? {}, item, `${at}[${i}]`));
    });
  } else if (typeof value === "object" && value !== null) {
    faults.push(...memberFaults(document, rules, value as Members, at));
  }
  return faults;
}

function memberFaults(document: unknown, rules: Schema, value: Members, at: string): string[] {
  const missing = (rules.required ?? []).filter((name) => !Object.hasOwn(value, name));
  const faults = missing.map((name) => `${at}.${name} is missing`);
  for (const [name, member] of Object.entries(value)) {
    const known = Object.hasOwn(rules.properties ?? {}, name) ? rules.properties?.[name] : undefined;
    const schema = known ?? rules.additionalProperties ?? true;
    if (schema === false) faults.push(`${at}.${name} is not in the document`);
    else if (schema !== true) faults.push(...schemaFaults(document, schema, member, `${at}.${name}`));
  }
  return faults;
}

function isOfType(value: unknown, type: string | undefined): boolean {
  switch (type) {
    case undefined:
      return true;
    case "integer":
      return Number.isSafeInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}
