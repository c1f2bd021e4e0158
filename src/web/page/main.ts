import { LinkSecret } from "../session/link-secret.ts";
import { isSharePath } from "../session/visitor.ts";
import { Page } from "./page.ts";

/* Starts the page. */

/** A sign-in link that is opened in an open page changes only the hash: without a reload it would have no effect. */
addEventListener("hashchange", () => location.reload());

/** Runs after the first paint, since rendering the page takes longer than that. A hidden page is never painted. */
function afterPaint(run: () => void): void {
  if (document.hidden) run();
  else requestAnimationFrame(() => setTimeout(run));
}

const secret = new LinkSecret(window, isSharePath(location.pathname) ? "share" : "map");
const credential = secret.take();
afterPaint(async () => {
  await new Page(document.getElementById("page")!).begin(credential);
  secret.forget();
});
