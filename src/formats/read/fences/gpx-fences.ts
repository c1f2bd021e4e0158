import type { Attributes } from "../xml/start-tag.ts";
import { type XmlElements, XmlReader } from "../xml/xml-reader.ts";
import { type FenceExtents, type FenceReader, type FenceSink, featureOf, placeOf } from "./fence-sink.ts";

/** A route or a waypoint. */
interface Element {
  readonly kind: "rte" | "wpt";
  readonly line: number;
  readonly positions: (readonly number[])[];
  name: string;
  desc: string;
}

/** Reads GPX: routes become corridors, and waypoints circles. Tracks are what happened, not plans, and are skipped. */
export class GpxFences implements FenceReader, XmlElements {
  readonly #sink: FenceSink;
  readonly #extents: FenceExtents;
  readonly #xml = new XmlReader(this);
  readonly #counts = { rte: 0, wpt: 0 };
  #element: Element | null = null;

  constructor(sink: FenceSink, extents: FenceExtents) {
    this.#sink = sink;
    this.#extents = extents;
  }

  push(piece: Uint8Array): void {
    this.#xml.push(piece);
  }

  end(): void {
    this.#xml.end();
  }

  open(name: string, { lat, lon }: Attributes, parent: string): boolean {
    const position = [Number(lon ?? Number.NaN), Number(lat ?? Number.NaN)];
    if (name === "rte" || name === "wpt") {
      const positions = name === "wpt" ? [position] : [];
      this.#element = { kind: name, line: this.#xml.line, positions, name: "", desc: "" };
    } else if (name === "rtept") this.#element?.positions.push(position);
    return (name === "name" || name === "desc") && parent === this.#element?.kind;
  }

  close(name: string, text: string): void {
    const element = this.#element;
    if (element === null) return;
    if ((name === "name" || name === "desc") && text !== "") element[name] = text;
    if (name !== element.kind) return;
    this.#element = null;
    const { kind, line, positions, desc: description } = element;
    const place = placeOf(kind === "rte" ? "route" : "waypoint", ++this.#counts[kind], line, element.name);
    const texts = { name: element.name, description };
    const feature =
      kind === "rte"
        ? featureOf("LineString", positions, texts, this.#extents)
        : featureOf("Point", positions[0], texts, this.#extents);
    this.#sink({ place, feature });
  }
}
