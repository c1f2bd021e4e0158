import { expect, test } from "bun:test";
import { EntityTags, namesTag } from "../../../../src/http/answer/entity-tags.ts";
import type { AppId } from "../../../../src/model/ids.ts";

const ANSWER = { appId: "app" as AppId, view: null, target: "/api/v1/x?y=1", version: "7.0" };

test("a tag is the same for the same answer, and another for any other app, view, question, version or process", () => {
  const tags = new EntityTags();
  const answers = [
    ANSWER,
    { ...ANSWER, appId: "other" as AppId },
    { ...ANSWER, view: "one" },
    { ...ANSWER, view: "another" },
    { ...ANSWER, target: "/api/v1/x?y=2" },
    { ...ANSWER, version: "8.0" },
  ];
  const made = answers.map((answer) => tags.of(answer));
  expect(new Set([...made, new EntityTags().of(ANSWER)]).size).toBe(answers.length + 1);
  expect(answers.map((answer) => tags.of(answer))).toEqual(made);
  expect(made[0]).toMatch(/^W\/"[\w-]{27}"$/);
});

test("namesTag() compares weakly, one of a list or any", () => {
  const list = (text: string | null, tag: string) => namesTag(text, tag);
  expect([list('"a", W/"b"', 'W/"a"'), list('W/"b"', '"b"'), list("*", '"c"')]).toEqual([true, true, true]);
  expect(['"a", *', '*, "a"', "W/*", "*,*"].filter((text) => list(text, '"b"'))).toEqual([]);
  expect([list(null, '"a"'), list('"ab"', '"a"'), list("a", '"a"')]).toEqual([false, false, false]);
});
