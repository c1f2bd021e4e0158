import { expect, test } from "bun:test";
import { noAnswer } from "../../../../src/operator/remote/no-answer.ts";

/** What fetch throws where there is no answer, in words. */
async function refusalOf(url: string): Promise<string> {
  try {
    await fetch(url, { redirect: "error" });
  } catch (cause) {
    return noAnswer(url, cause);
  }
  throw new Error("it was answered");
}

test("a server that redirects, that has no TLS, or that is not there is told apart", async () => {
  const fetchRedirect = () => Response.redirect("https://here.example/", 301);
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: fetchRedirect });
  const host = `127.0.0.1:${server.port}`;
  expect(await refusalOf(`http://${host}`)).toBe(
    `http://${host} redirects, and a key must not follow: give the address that it redirects to.`,
  );
  expect(await refusalOf(`https://${host}`)).toBe(
    `https://${host} answers without TLS: did you mean http://?`,
  );
  await server.stop(true);
  expect(await refusalOf(`http://${host}`)).toBe(
    `Nobody answers at http://${host} (ECONNREFUSED); is the server running there?`,
  );
});

test("what has no code is told without one", () => {
  expect(noAnswer("http://here.example", new Error("odd"))).toBe(
    "Nobody answers at http://here.example; is the server running there?",
  );
});
