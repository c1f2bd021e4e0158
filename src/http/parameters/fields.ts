import { ok, type Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import { FieldChoice, fieldNamesOf } from "../../model/field-choice.ts";
import type { ResponseKind } from "../../model/location-fields.ts";
import { invalid, type Parameter } from "./parameter.ts";

/**
 * Chooses the fields of an answer's records. Names are separated by commas; the parameter may also be repeated, which
 * is how many generated clients send a list.
 */
export function fieldsOf(kind: ResponseKind): Parameter<FieldChoice> {
  const known = fieldNamesOf(kind);
  const whole = new FieldChoice(kind);
  // Clients mostly choose the same fields again and again.
  let lastText: string | null = null;
  let last = whole;

  function parse(name: string, text: string | null): Result<FieldChoice, ServiceError> {
    if (text === null) return ok(whole);
    if (text !== lastText) {
      const items = text.split(",", known.length + 1);
      if (items.some((item) => !known.includes(item)))
        return invalid(`${name} must be of ${known.join(", ")}`);
      if (new Set(items).size < items.length) return invalid(`${name} must name each once`);
      last = new FieldChoice(kind, items);
      lastText = text;
    }
    return ok(last);
  }

  return {
    description: [
      "Only these fields of each record, separated by commas; device_id and timestamp are always among them. Their order",
      "does not matter. local_time, place and name are no fields: timezone, places and names add them. Defaults to all fields.",
    ].join(" "),
    required: false,
    schema: { type: "array", items: { type: "string", enum: known }, minItems: 1, uniqueItems: true },
    isJoined: true,
    parse,
    parseAll: (name, texts) => parse(name, texts.join()),
  };
}
