import { LinkSecret } from "../session/link-secret.ts";
import { isSharePath } from "../session/visitor.ts";
import { Page } from "./page.ts";

/* Starts the page. */

/** A link that is followed where the page is open already loads nothing by itself, and would stay in the address. */
addEventListener("hashchange", () => location.reload());

/** Once the HTML has been painted, as it came: to make the page takes longer. A page that is not seen isn't painted. */
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
