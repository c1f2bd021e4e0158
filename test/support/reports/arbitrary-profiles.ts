import * as fc from "../fast-check.ts";

const texts = fc.constantFrom("Bus 42", "ä", "\u{1F68C} Жан", '"\\', "a/b", "\u2028", "x".repeat(64));

/** Members that the server takes for a profile. */
export const arbitraryProfile = fc.record(
  {
    name: fc.oneof(texts, fc.constant("y".repeat(128)), fc.constant(null)),
    color: fc.constantFrom("#1a73e8", "#ABCDEF", null),
    icon: fc.constantFrom("bus", "car", null),
    tags: fc.oneof(fc.array(texts, { maxLength: 4 }), fc.constant(null)),
    metadata: fc.oneof(
      fc.constant(null),
      fc.dictionary(
        texts,
        fc.oneof(texts, fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.integer())),
        {
          maxKeys: 3,
        },
      ),
    ),
  },
  { requiredKeys: [] },
);
