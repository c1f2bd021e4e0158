import { expect, test } from "bun:test";
import { withoutComments } from "../../src/runtime/strip-types.ts";

test("withoutComments() takes comments that have their lines to themselves, and no line", () => {
  const source = `/** What it is.
 * It goes on. */
export const a = 1; // beside
  // alone
/* first */ const b = 2;
const c = "/* no comment */"; /** k */
/***/
const url = "http://a"; /* ends below
*/ const d = 3;
`;
  expect(withoutComments(source)).toBe(`

export const a = 1; // beside

/* first */ const b = 2;
const c = "/* no comment */"; /** k */

const url = "http://a"; /* ends below
*/ const d = 3;
`);
});
