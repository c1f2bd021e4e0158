import { expect, test } from "bun:test";
import { nativeDeno } from "../../../support/native-deno.ts";
import { tableFindings } from "./table-findings.ts";

test("Deno reads samples of lines and bytes as Bun does", async () => {
  const child = Bun.spawn([nativeDeno(), "run", "-A", `${import.meta.dir}/table-findings-on-deno.ts`], {
    stdout: "pipe",
    stderr: "inherit",
  });
  expect(JSON.parse(await new Response(child.stdout).text())).toEqual(JSON.parse(await tableFindings()));
});
