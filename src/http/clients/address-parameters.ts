import { parseSpeedUnit, SPEED_UNITS, type SpeedUnit } from "../../clients/reading/speed.ts";
import { ok } from "../../lib/result.ts";
import { invalid, type Parameter } from "../parameters/parameter.ts";
import type { PathParameter } from "../parameters/path-parameter.ts";

/*
 * What people add to the URL that they type into a client: whose device it is, and what its speeds are in.
 */

function name(description: string): Parameter<string | null> {
  return {
    description,
    required: false,
    schema: { type: "string" },
    parse: (_name, text) => ok(text === "" ? null : text),
  };
}

const speedUnit: Parameter<SpeedUnit | null> = {
  description: "What the client's speeds are in, where they turn out to be other than usual for it.",
  required: false,
  schema: { type: "string", enum: SPEED_UNITS },
  parse(name, text) {
    if (text === null || text === "") return ok(null);
    const unit = parseSpeedUnit(text);
    return unit === null ? invalid(`${name} must be ${SPEED_UNITS.join(", ")}`) : ok(unit);
  },
};

export const ADDRESS_PARAMETERS = {
  device_id: name("The device that reports, whatever the client calls it."),
  user_id: name("The device's user, whatever the client calls it."),
  speed_unit: speedUnit,
};

/** Read by the gate, not as parameters; here they are described. */
export const KEY_PARAMETERS_DESCRIBED = {
  api_key: name("The key, for clients that can't send it in a header."),
  token: name("The same under another name."),
};

function segment(description: string, example: string): PathParameter<string> {
  return {
    description,
    schema: { type: "string", minLength: 1 },
    example,
    refusesEmpty: false,
    refusal: null,
    parse: (text) => ok(text),
  };
}

export const keySegment = segment("The key, for clients that have room for nothing but a URL.", "wh_…");
export const deviceSegment = segment("The device that reports, whatever the client calls it.", "pixel7");
