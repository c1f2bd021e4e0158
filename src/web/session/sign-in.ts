import { html, nothing, type TemplateResult } from "lit-html";
import { sentenceOf } from "../api/api-error.ts";
import type { Session, Waiting } from "./session.ts";

export function signInForm(session: Session): TemplateResult {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const key = String(new FormData(form).get("key") ?? "").trim();
    form.reset();
    void session.signIn({ key });
  };
  const { fault } = session;
  return html`<main class="sign-in">
    <form @submit=${submit}>
      <h2>Sign in</h2>
      <p class="soft">Enter a key of this server. Or run <code>npm run cli -- keys link</code> for a link that signs in.</p>
      <input hidden name="username" autocomplete="username" value="key" />
      <label>Key <input type="password" name="key" required autocomplete="current-password" autofocus
        aria-describedby=${fault === null ? nothing : "sign-in-fault"}></label>
      ${fault === null ? nothing : html`<p class="fault" id="sign-in-fault" role="alert">${fault}</p>`}
      <button class="primary">Sign in</button>
    </form>
  </main>`;
}

/** Replaces the page until the server has answered whether a user is signed in. */
export function waitingPage({ error, retryAtMs }: Waiting, tryNow: () => void): TemplateResult {
  const seconds = Math.max(1, Math.ceil((retryAtMs - Date.now()) / 1000));
  const why = error.isOurs ? sentenceOf(error).slice(0, -1) : "Can't reach the server";
  // Hidden from screen readers, which would read every second of the countdown.
  return html`<main class="sign-in"><div class="waiting">
    <p role="status">${why}, trying again<span aria-hidden="true"> in ${seconds} s</span>.</p>
    <button @click=${tryNow}>Try now</button>
  </div></main>`;
}
