import { html, nothing, type TemplateResult } from "lit-html";
import { repeat } from "lit-html/directives/repeat.js";
import { faultNote } from "../shell/fault-note.ts";
import { skeletonLines } from "../shell/skeleton.ts";
import { dayMinuteText } from "../time/format.ts";
import type { PageKey, PageKeys } from "./page-keys.ts";

interface KeyListParts {
  readonly title: string;
  readonly none: string;
  readonly kind: PageKey["kind"];
  readonly keys: PageKeys;
  readonly zone: string;
  readonly describe: (key: PageKey) => string;
}

/** The usable keys of a kind that were created on the page, each with a button that revokes it. */
export function keyList({ title, none, kind, keys, zone, describe }: KeyListParts): TemplateResult {
  const list = keys.ofKind(kind, Date.now());
  return html`<section class="key-list" aria-busy=${list === null && keys.fault === null}>
    <h3>${title}</h3>
    ${keys.fault === null ? nothing : faultNote(keys.fault, { label: "Try again", act: () => void keys.load() })}
    ${list === null && keys.fault === null ? skeletonLines(2) : nothing}
    ${list?.length === 0 ? html`<p class="soft">${none}</p>` : nothing}
    <ul>
      ${repeat(
        list ?? [],
        ({ id }) => id,
        (key) => html`<li>
        <div>
          ${key.label === "" ? nothing : html`<strong>${key.label}</strong>`}
          <span>${describe(key)}</span>
          <span class="soft">created ${dayMinuteText(key.created, zone)}</span>
        </div>
        <button aria-label="Revoke ${key.label || describe(key)}" @click=${() => keys.revoke(key.id)}>Revoke</button>
      </li>`,
      )}
    </ul>
  </section>`;
}
