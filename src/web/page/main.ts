import type { Credential } from "../session/session.ts";
import { Page } from "./page.ts";

/* Starts the page. */

/** A link's code or key stands behind the `#`, which no server and no log sees; here it is wiped at once. */
function takeCredential(): Credential | null {
  const { hash, pathname, search } = location;
  const code = /^#code=(.+)$/.exec(hash)?.[1];
  const share = pathname === "/map/s" ? /^#(\w+)$/.exec(hash)?.[1] : undefined;
  if (code === undefined && share === undefined) return null;
  history.replaceState(null, "", pathname + search);
  return code === undefined ? { share: share! } : { code };
}

/** A link that is followed where the page is open already loads nothing by itself, and would stay in the address. */
addEventListener("hashchange", () => location.reload());

void new Page(document.getElementById("page")!).begin(takeCredential());
