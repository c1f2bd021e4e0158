import { SaxesParser } from "saxes";

/** An element of a document, read by a parser that stops at the least fault. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  text: string;
}

export function parseXml(text: string): XmlElement {
  const parser = new SaxesParser({ xmlns: false });
  const document: XmlElement = { name: "", attributes: {}, children: [], text: "" };
  const open = [document];
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name, attributes }) => {
    const element = { name, attributes, children: [], text: "" };
    open.at(-1)!.children.push(element);
    open.push(element);
  });
  parser.on("text", (piece) => {
    open.at(-1)!.text += piece;
  });
  parser.on("closetag", () => {
    open.pop();
  });
  parser.write(text).close();
  return document.children[0]!;
}

export function childrenNamed({ children }: XmlElement, name: string): XmlElement[] {
  return children.filter((child) => child.name === name);
}

/** The text of the first such element at any depth; undefined if there is none. */
export function textOf(element: XmlElement, name: string): string | undefined {
  for (const child of element.children) {
    const found = child.name === name ? child.text : textOf(child, name);
    if (found !== undefined) return found;
  }
  return undefined;
}
