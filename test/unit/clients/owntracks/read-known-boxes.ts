import { keyOf, openBox } from "../../../../src/clients/owntracks/encryption.ts";
import { owntracks } from "../../../../src/clients/owntracks/owntracks.ts";
import { collect, contentOf, messageOf } from "../../../support/clients/collected.ts";
import { sample } from "../../../support/clients/sample.ts";

/** Prints the points that are in the sample boxes; run on either runtime by the test beside. */

const SAMPLES = { "encrypted-key-123.json": "123", "encrypted-key-s3cr1t.json": "s3cr1t" };

const points = Object.entries(SAMPLES).flatMap(([name, phrase]) => {
  const body = sample(`owntracks-http/${name}`);
  const decrypt = (_device: string | null, box: Uint8Array) => openBox(keyOf(phrase), box);
  return collect(owntracks, messageOf(contentOf(body), { decrypt })).points;
});
console.log(JSON.stringify(points));
