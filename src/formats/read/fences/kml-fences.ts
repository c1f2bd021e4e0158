import type { Attributes } from "../xml/start-tag.ts";
import { type XmlElements, XmlReader } from "../xml/xml-reader.ts";
import { type FenceExtents, type FenceReader, type FenceSink, featureOf, placeOf } from "./fence-sink.ts";

type Position = readonly number[];

/** What a Placemark has. */
class Placemark {
  name = "";
  description = "";
  readonly points: Position[] = [];
  readonly lines: (readonly Position[])[] = [];
  readonly polygons: (readonly Position[])[][] = [];
}

/**
 * Reads the Placemarks of KML: those with polygons are areas, lines become corridors, and points circles. One with
 * several lines or points makes a fence of each.
 */
export class KmlFences implements FenceReader, XmlElements {
  readonly #sink: FenceSink;
  readonly #extents: FenceExtents;
  readonly #xml = new XmlReader(this);
  #placemark: Placemark | null = null;
  #line = 1;
  #count = 0;
  /** Whether the open ring is that of a hole. */
  #isHole = false;

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

  open(name: string, _attributes: Attributes, parent: string): boolean {
    switch (name) {
      case "Placemark":
        this.#placemark = new Placemark();
        this.#line = this.#xml.line;
        return false;
      case "Polygon":
        this.#placemark?.polygons.push([]);
        this.#isHole = false;
        return false;
      case "outerBoundaryIs":
      case "innerBoundaryIs":
        this.#isHole = name === "innerBoundaryIs";
        return false;
      case "name":
      case "description":
        return parent === "Placemark";
      case "coordinates":
        this.#parent = parent;
        return this.#placemark !== null;
      default:
        return false;
    }
  }

  /** The parent of the open `coordinates`. */
  #parent = "";

  close(name: string, text: string): void {
    const placemark = this.#placemark;
    if (placemark === null) return;
    switch (name) {
      case "name":
      case "description":
        if (text !== "") placemark[name] = text;
        break;
      case "coordinates":
        this.#addCoordinates(placemark, text);
        break;
      case "Placemark":
        this.#placemark = null;
        this.#send(placemark);
    }
  }

  #addCoordinates({ points, lines, polygons }: Placemark, text: string): void {
    const positions = positionsOf(text);
    if (this.#parent === "Point") points.push(positions[0] ?? []);
    else if (this.#parent === "LineString") lines.push(positions);
    else if (this.#parent === "LinearRing") {
      // An outer boundary may follow the holes.
      if (this.#isHole) polygons.at(-1)?.push(positions);
      else polygons.at(-1)?.unshift(positions);
    }
  }

  #send(placemark: Placemark): void {
    const { points, lines, polygons, name } = placemark;
    const place = placeOf("Placemark", ++this.#count, this.#line, name);
    const send = (type: string, coordinates: unknown) =>
      this.#sink({ place, feature: featureOf(type, coordinates, placemark, this.#extents) });
    if (polygons.length > 1) send("MultiPolygon", polygons);
    else if (polygons[0] !== undefined) send("Polygon", polygons[0]);
    for (const line of lines) send("LineString", line);
    for (const point of points) send("Point", point);
  }
}

/** Tuples of longitude, latitude and perhaps altitude, of which the last is left out. */
function positionsOf(text: string): readonly Position[] {
  return text
    .trim()
    .split(/\s+/)
    .filter((tuple) => tuple !== "")
    .map((tuple) => tuple.split(",").slice(0, 2).map(Number));
}
