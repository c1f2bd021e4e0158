import type { MapLibreMap } from "maplibre-gl";
import { inkOn } from "../devices/device-badge.ts";
import { DEVICE_ICONS } from "../devices/device-icons.ts";
import type { DeviceLook } from "../devices/device-table.ts";
import { colorText, type MapColors } from "../gl/map-colors.ts";

/** An image is 2.5 kB. Only as many as there are labels are shown at a time. */
const IMAGES_MAX = 512;

/** In CSS pixels. */
const SIZE = 18;
const ICON_SIZE = 12;
/** Between a badge and its text. */
const GAP = 4;
const PIXEL_RATIO = 2;

/** The box of the icons' outlines. */
const OUTLINE_SIZE = 24;
const OUTLINE_WIDTH = 2.4;

/** The badges in labels, as images of the map. */
export class LabelBadges {
  readonly #names = new Set<string>();

  /** Removes all images if they are many. Call it before labels are made anew, which then adds those it needs. */
  tidy(map: MapLibreMap): void {
    if (this.#names.size <= IMAGES_MAX) return;
    for (const name of this.#names) if (map.hasImage(name)) map.removeImage(name);
    this.#names.clear();
  }

  /** The name of the image, which the map then has; empty for a device without color and icon. */
  imageFor(map: MapLibreMap, look: DeviceLook | null, colors: MapColors): string {
    const { color, icon } = look ?? {};
    if (color === undefined && icon === undefined) return "";
    const ground = color ?? colorText(colors.text);
    const ink = color === undefined ? colorText(colors.edge) : inkOn(color);
    const name = `badge ${icon ?? ""} ${ground} ${ink}`;
    if (map.hasImage(name)) return name;
    const image = drawBadge(icon === undefined ? null : DEVICE_ICONS[icon], ground, ink);
    if (image === null) return "";
    map.addImage(name, image, { pixelRatio: PIXEL_RATIO });
    this.#names.add(name);
    return name;
  }
}

/** Null if the browser has no canvas to draw on. */
function drawBadge(outline: string | null, ground: string, ink: string): ImageData | null {
  const canvas = document.createElement("canvas");
  canvas.width = (SIZE + GAP) * PIXEL_RATIO;
  canvas.height = SIZE * PIXEL_RATIO;
  const context = canvas.getContext("2d");
  if (context === null) return null;
  context.scale(PIXEL_RATIO, PIXEL_RATIO);
  context.fillStyle = ground;
  context.beginPath();
  context.arc(SIZE / 2, SIZE / 2, SIZE / 2 - 0.5, 0, 2 * Math.PI);
  context.fill();
  if (outline !== null) {
    const margin = (SIZE - ICON_SIZE) / 2;
    context.translate(margin, margin);
    context.scale(ICON_SIZE / OUTLINE_SIZE, ICON_SIZE / OUTLINE_SIZE);
    context.strokeStyle = ink;
    context.lineWidth = OUTLINE_WIDTH;
    context.lineCap = "round";
    context.lineJoin = "round";
    context.stroke(new Path2D(outline));
  }
  return context.getImageData(0, 0, canvas.width, canvas.height);
}
