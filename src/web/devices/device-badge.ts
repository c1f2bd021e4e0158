import { html, nothing, type TemplateResult } from "lit-html";
import { DEVICE_ICONS, type DeviceIcon } from "./device-icons.ts";
import type { DeviceLook } from "./device-table.ts";

/* A disc in a device's color with its icon, beside its name. */

type BadgeLook = Pick<DeviceLook, "color" | "icon">;

/** What is drawn on a color: whichever of the two is easier to see. */
const [LIGHT_INK, DARK_INK] = ["#ffffff", "#0c1722"] as const;

/** Colors of this luminance have the same contrast with both inks. */
const MIDDLE_LUMINANCE = 0.2;

/** Nothing for a device that has neither a color nor an icon. */
export function deviceBadge(look: BadgeLook | null): TemplateResult | typeof nothing {
  const { color, icon } = look ?? {};
  if (color === undefined && icon === undefined) return nothing;
  // By property: the content security policy forbids style attributes.
  const style = color === undefined ? "" : `--tint: ${color}; --ink: ${inkOn(color)}`;
  return html`<span class="badge" .style=${style} aria-hidden="true">${icon === undefined ? nothing : deviceIcon(icon)}</span>`;
}

export function deviceIcon(icon: DeviceIcon): TemplateResult {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${DEVICE_ICONS[icon]}></path></svg>`;
}

/** The color of an icon on `#rrggbb`. */
export function inkOn(color: string): string {
  const channels = [1, 3, 5].map((start) => linear(Number.parseInt(color.slice(start, start + 2), 16) / 255));
  const [red = 0, green = 0, blue = 0] = channels;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > MIDDLE_LUMINANCE ? DARK_INK : LIGHT_INK;
}

/** A channel of sRGB as an amount of light (WCAG 2.2, relative luminance). */
function linear(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
}
