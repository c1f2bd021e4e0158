import { html, nothing, type TemplateResult } from "lit-html";
import type { Units } from "../geo/units.ts";
import { dialog } from "../shell/dialog.ts";
import { agoText } from "../time/format.ts";
import { type Connect, isLoopback, type MadePhone, PHONE_APPS } from "./connect.ts";
import { copyField, copyLines } from "./copying.ts";
import {
  missingText,
  type PhoneRequest,
  placeText,
  refusalText,
  speedAdvice,
  understoodText,
} from "./first-report.ts";
import { keyList } from "./key-list.ts";
import { qrCode } from "./qr-code.ts";

/** The three steps of connecting a phone as a dialog, for a page that has devices. */
export function connectDialog(connect: Connect): TemplateResult | typeof nothing {
  if (!connect.isOpen) return nothing;
  const body = html`${connectSteps(connect, () => connect.restart())} ${phoneKeys(connect)}`;
  return dialog({ name: "connect", title: "Connect a phone", body, closed: () => connect.close() });
}

/** Covers the map of an empty server until the first device has reported and the user has seen that. */
export function emptyPage(connect: Connect, mayConnect: boolean, isEmpty: boolean): TemplateResult {
  return html`<section class="card empty" aria-labelledby="empty-title">
    <h2 id="empty-title">${isEmpty ? "No device has reported yet." : "Your first device has reported."}</h2>
    ${
      mayConnect
        ? connectSteps(connect, () => connectAnother(connect, isEmpty))
        : html`<p>Your key may not connect phones: sign in with one that may <code>write</code>. Settings, in the menu, has the
            command that creates it.</p>`
    }
    ${
      isEmpty
        ? html`<p class="soft">Or try the demo first: <code>npm run demo</code> replays recorded buses and ships.
            ${mayConnect ? "A GPX, KML or GeoJSON file can be dropped on the page, too." : nothing}</p>`
        : html`<button class="primary" @click=${() => connect.restart()}>Show the map</button>`
    }
  </section>`;
}

/** Connects another phone. Once a device has reported, that happens in a dialog over the map. */
function connectAnother(connect: Connect, isEmpty: boolean): void {
  connect.restart();
  if (!isEmpty) connect.open();
}

function connectSteps(connect: Connect, another: () => void): TemplateResult {
  const { made } = connect;
  return html`<ol class="steps">
    <li class="step">
      <h3>App and name</h3>
      ${
        made === null
          ? appForm(connect)
          : html`<p class="made-for"><span><strong>${connect.app.name}</strong> as <strong class="name">${made.key.device_id}</strong></span>
        <button @click=${another}>Connect another</button></p>`
      }
    </li>
    <li class="step" aria-disabled=${made === null}>
      <h3>Settings</h3>
      ${
        made === null
          ? html`<p class="soft">A QR code to scan, and the settings as text.</p>`
          : html`<details ?open=${connect.report.arrival === null}>
            <summary>${connect.app.name}: ${made.setup.place}</summary>${settings(connect, made)}
          </details>`
      }
    </li>
    <li class="step ${made === null ? "" : "last"}" aria-disabled=${made === null}>
      <h3>First report</h3>
      ${made === null ? html`<p class="soft">What the phone sends, and what the server reads in it.</p>` : firstReport(connect)}
    </li>
  </ol>`;
}

function appForm(connect: Connect): TemplateResult {
  const submit = (event: Event) => {
    event.preventDefault();
    void connect.make();
  };
  return html`<form @submit=${submit}>
    <fieldset class="apps">
      <legend class="unseen">App</legend>
      ${PHONE_APPS.map(
        (app) => html`<label>
        <input type="radio" name="app" .checked=${app === connect.app} @change=${() => connect.choose(app)}>
        <span>${app.name}</span> <small class="soft">${app.on}</small>
      </label>`,
      )}
    </fieldset>
    ${unreachable(connect.location.hostname)}
    <label class="device-name">Device name
      <input name="device" required maxlength="128" autocomplete="off" autocapitalize="none" spellcheck="false"
        .value=${connect.deviceName} @input=${(event: Event) => {
          connect.deviceName = (event.target as HTMLInputElement).value;
        }}>
    </label>
    ${connect.fault === null ? nothing : html`<p class="fault" role="alert">${connect.fault}</p>`}
    <button class="primary" ?disabled=${connect.isMaking}>Create settings</button>
  </form>`;
}

/** A warning that a phone would connect to itself at 127.0.0.1. */
export function unreachable(hostname: string): TemplateResult | typeof nothing {
  if (!isLoopback(hostname)) return nothing;
  return html`<p class="warning">A phone can't reach <code>${hostname}</code>: that name means the phone itself.
    Start the server with <code>--host 0.0.0.0</code>, and open this page at this machine's address in your network.</p>`;
}

function settings(connect: Connect, { setup }: MadePhone): TemplateResult {
  const { app, copying } = connect;
  const { fields, paste, qr, qr_opens_app: opensApp, notes } = setup;
  return html`<div class="setup">
    ${
      qr === null
        ? nothing
        : html`<figure>
      ${qrCode(qr, `The settings of ${app.name} as a QR code`)}
      <figcaption class="soft">${
        opensApp
          ? html`Scan it with the phone's camera. Is this the phone? <a href=${qr}>Open ${app.name}</a>`
          : "Scan it in the app."
      }</figcaption>
    </figure>`
    }
    <div class="setup-fields">
      ${fields.map(({ name, value }) => copyField(name, value, copying))}
      ${paste === null ? nothing : copyLines("Paste this", paste, copying)}
    </div>
    <ul class="notes">
      <li>The key is shown only now. It can only report as this device.</li>
      ${notes.map((note) => html`<li>${note}</li>`)}
    </ul>
  </div>`;
}

function firstReport({ report, made, units }: Connect): TemplateResult {
  const { arrival, fault } = report;
  if (fault !== null) return html`<p class="fault" role="alert">${fault}</p>`;
  if (arrival === null)
    return html`<p role="status" class="waiting">Waiting for ${made!.key.device_id} …</p>`;
  const { request, latitude, longitude, atMs } = arrival;
  const refusal = request === null ? null : refusalText(request);
  const missing = request === null ? null : missingText(request);
  const when = `${made!.key.device_id} reported ${agoText(atMs, Date.now())}`;
  if (refusal !== null) return html`<p role="status">${when}.</p><p class="fault">${refusal}</p>`;
  return html`<p role="status"><strong>${when}, ${placeText(latitude!, longitude!)}</strong></p>
    ${request?.newest === undefined ? nothing : understood(request.newest, units)}
    ${missing === null ? nothing : html`<p class="soft">${missing}</p>`}`;
}

function understood(report: NonNullable<PhoneRequest["newest"]>, units: Units): TemplateResult {
  const advice = speedAdvice(report);
  return html`<p>Received: ${understoodText(report, units)}.</p>
    ${advice === null ? nothing : html`<p class="soft">${advice}</p>`}`;
}

function phoneKeys({ keys, zone }: Connect): TemplateResult {
  return keyList({
    title: "Phones with a key",
    none: "No phone has been connected here.",
    kind: "phone",
    keys,
    zone,
    describe: (key) => `reports as ${key.device_id}`,
  });
}
