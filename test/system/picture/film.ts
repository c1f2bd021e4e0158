import type { Page } from "playwright-core";
import { animatedWebp, type Frame } from "./animated-webp.ts";

/** Colors that differ by less in each channel are taken for the same. */
const TOLERANCE = 6;

/** A film of screenshots. A frame has only the pixels that differ from those before it. */
export class Film {
  readonly #darkroom: Page;
  readonly #width: number;
  readonly #height: number;
  readonly #frames: Frame[] = [];

  /** `darkroom` is an empty page, whose browser reads and writes the pictures. */
  constructor(darkroom: Page, width: number, height: number) {
    this.#darkroom = darkroom;
    this.#width = width;
    this.#height = height;
  }

  /** Adds a screenshot of the film's size; all of it, if a scene begins. */
  async add(screenshot: Buffer, durationMs: number, isCut: boolean): Promise<void> {
    const changed = await this.#darkroom.evaluate(differenceOf, {
      png: screenshot.toString("base64"),
      tolerance: isCut ? -1 : TOLERANCE,
    });
    const last = this.#frames.at(-1);
    if (changed === null)
      this.#frames[this.#frames.length - 1] = { ...last!, durationMs: last!.durationMs + durationMs };
    else this.#frames.push({ ...changed, image: Buffer.from(changed.image, "base64"), durationMs });
  }

  get file(): Buffer {
    return animatedWebp(this.#width, this.#height, this.#frames);
  }
}

interface FilmWindow extends Window {
  /** The pixels that the film shows so far. */
  seen?: ImageData;
}

/** Runs in the browser. */
async function differenceOf({ png, tolerance }: { readonly png: string; readonly tolerance: number }) {
  const picture = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
  const { width, height } = picture;
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true })!;
  context.drawImage(picture, 0, 0);
  const pixels = context.getImageData(0, 0, width, height);
  const film = window as unknown as FilmWindow;
  film.seen ??= new ImageData(width, height);
  const { seen } = film;
  let [left, top, right, bottom] = [width, height, 0, 0];
  for (let at = 0; at < pixels.data.length; at += 4) {
    const isChanged = [0, 1, 2].some((c) => Math.abs(pixels.data[at + c]! - seen.data[at + c]!) > tolerance);
    if (!isChanged) {
      pixels.data[at + 3] = 0;
      continue;
    }
    seen.data.set(pixels.data.subarray(at, at + 4), at);
    const [x, y] = [(at / 4) % width, Math.floor(at / 4 / width)];
    [left, right, top, bottom] = [Math.min(left, x), Math.max(right, x + 1), Math.min(top, y), y + 1];
  }
  if (bottom === 0) return null;
  [left, top] = [left - (left % 2), top - (top % 2)];
  const part = new OffscreenCanvas(right - left, bottom - top);
  part.getContext("2d")!.putImageData(pixels, -left, -top);
  const blob = await part.convertToBlob({ type: "image/webp", quality: 1 });
  let image = "";
  for (const byte of new Uint8Array(await blob.arrayBuffer())) image += String.fromCharCode(byte);
  return { image: btoa(image), left, top, width: part.width, height: part.height };
}
