import { html, nothing, type TemplateResult } from "lit-html";
import type { Session } from "./session.ts";

/** The form that takes a key. */
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
      <p class="soft">With a key of this server. <code>npm run cli -- keys link</code> prints a link that needs none.</p>
      <input hidden name="username" autocomplete="username" value="key" />
      <label>Key <input type="password" name="key" required autocomplete="current-password" autofocus
        aria-describedby=${fault === null ? nothing : "sign-in-fault"}></label>
      ${fault === null ? nothing : html`<p class="fault" id="sign-in-fault" role="alert">${fault}</p>`}
      <button class="primary">Sign in</button>
    </form>
  </main>`;
}
