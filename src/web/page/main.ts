import type { Credential } from "../session/session.ts";
import { isSharePath } from "../session/visitor.ts";
import { Page } from "./page.ts";

/* Starts the page. */

/** A link's code or key stands behind the `#`, which no server and no log sees; here it is wiped at once. */
function takeCredential(): Credential | null {
  const { hash, pathname, search } = location;
  const isShare = isSharePath(pathname);
  const text = (isShare ? /^#(\w+)/ : /^#code=(.+)$/).exec(hash)?.[1];
  if (text === undefined) return null;
  history.replaceState(null, "", pathname + search);
  return isShare ? { share: text } : { code: text };
}

/** A link that is followed where the page is open already loads nothing by itself, and would stay in the address. */
addEventListener("hashchange", () => location.reload());

/** Once the HTML has been painted, as it came: to make the page takes longer. A page that is not seen isn't painted. */
function afterPaint(run: () => void): void {
  if (document.hidden) run();
  else requestAnimationFrame(() => setTimeout(run));
}

const credential = takeCredential();
afterPaint(() => void new Page(document.getElementById("page")!).begin(credential));
