import { document, type Operation, type Schema } from "../../test/unit/http/openapi/open-api-document.ts";
import { anchorOf } from "./anchor.ts";

/* The reference of the API: a page for each group of endpoints, made from the document that the server has at /docs. */

const FOLDER = "docs/api";

interface Entry {
  readonly title: string;
  readonly operation: Operation;
}

interface Group {
  readonly name: string;
  readonly description: string;
  readonly entries: readonly Entry[];
}

const GROUPS = groupsOf(document);

function groupsOf({ paths, tags }: typeof document): readonly Group[] {
  const entries = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      title: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
  return tags.map(({ name, description }) => ({
    name,
    description,
    entries: entries.filter(({ operation }) => operation.tags[0] === name),
  }));
}

/** The pages by their paths. */
export function apiPages(): ReadonlyMap<string, string> {
  const lists = GROUPS.map(({ name, description, entries }) => {
    const page = `./${fileOf(name)}.md`;
    const links = entries.map(
      ({ title, operation }) => `- [\`${title}\`](${page}#${anchorOf(title)}): ${prose(operation.summary)}`,
    );
    return `## ${name}\n\n${prose(description)}\n\n${links.join("\n")}`;
  });
  const index = `# API reference\n\n${prose(withoutTable(document.info.description))}\n\n${lists.join("\n\n")}\n`;
  return new Map([
    [`${FOLDER}/index.md`, index],
    ...GROUPS.map((group) => [`${FOLDER}/${fileOf(group.name)}.md`, groupPage(group)] as const),
  ]);
}

/** The entries of the sidebar. */
export function apiLinks(): readonly { readonly text: string; readonly link: string }[] {
  const own = GROUPS.map(({ name }) => ({ text: name, link: `/${FOLDER}/${fileOf(name)}` }));
  return [{ text: "Overview", link: `/${FOLDER}/` }, ...own];
}

function fileOf(name: string): string {
  return name.toLowerCase();
}

/** The table of errors has a page of its own. */
function withoutTable(text: string): string {
  return text.replace(/^\|.*\|$(\n^\|.*\|$)*/m, "[All codes](../errors.md).");
}

function groupPage({ name, description, entries }: Group): string {
  const sections = entries.map(
    ({ title, operation }) => `## \`${title}\`\n\n${operationParts(operation).join("\n\n")}`,
  );
  return `# API: ${name}\n\n${prose(description)}\n\n${sections.join("\n\n")}\n`;
}

function operationParts({
  summary,
  description,
  parameters = [],
  requestBody,
  responses,
}: Operation): string[] {
  const parts = [`${prose(summary)}. ${prose(description)}`];
  const rows = parameters.map(({ name, in: place, required, description: text, schema }) => [
    `\`${name}\` (${place})`,
    typeOf(schema),
    required ? "required" : defaultOf(schema),
    text,
  ]);
  if (rows.length > 0) parts.push(table(["parameter", "type", "default", ""], rows));
  if (requestBody !== undefined) parts.push(...bodyParts("body", requestBody.content));
  for (const [status, { description: text, content = {} }] of Object.entries(responses)) {
    if (status.startsWith("2")) parts.push(`**${status}**: ${prose(text)}`, ...bodyParts("member", content));
  }
  const failures = Object.entries(responses).filter(([status]) => /^[^2]/.test(status));
  if (failures.length > 0)
    parts.push(
      table(
        ["status", "when"],
        failures.map(([status, { description: text }]) => [status, text]),
      ),
    );
  return parts;
}

function bodyParts(heading: string, content: NonNullable<Operation["requestBody"]>["content"]): string[] {
  const types = Object.keys(content).map((type) => `\`${type}\``);
  if (types.length === 0) return [];
  const rows = Object.values(content).flatMap(({ schema }) => memberRows(schema, ""));
  const members = rows.length === 0 ? [] : [table([heading, "type", ""], rows)];
  return [`As ${types.join(" or ")}:`, ...members];
}

/** Members of members are listed down to this depth. */
const DEPTH_MAX = 4;

function memberRows(schema: Schema, prefix: string, depth = 0): string[][] {
  if (depth > DEPTH_MAX) return [];
  if (schema.type === "array") return memberRows(schema.items, `${prefix}[]`, depth);
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties).flatMap(([name, member]) => {
    const path = prefix === "" ? name : `${prefix}.${name}`;
    const optional = required.includes(name) ? "" : ", may be absent";
    const row = [`\`${path}\``, typeOf(member) + optional, member.description ?? ""];
    return [row, ...memberRows(member, path, depth + 1)];
  });
}

function typeOf(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(", ");
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(" or ");
  if (schema.type === "array") return `array of ${typeOf(schema.items)}`;
  const { minimum, maximum } = schema;
  const type = schema.type ?? "any value";
  if (minimum !== undefined && maximum !== undefined) return `${type}, ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `${type}, at least ${minimum}`;
  return maximum === undefined ? type : `${type}, at most ${maximum}`;
}

function defaultOf(schema: Schema): string {
  return schema.default === undefined ? "" : `\`${schema.default}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = rows.map((cells) => cells.map((cell) => prose(cell).replaceAll("|", "\\|")));
  return [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Angle brackets outside of code are text, not HTML. Single line ends become spaces, since a cell is one line. */
function prose(text: string): string {
  return text
    .replaceAll(/`[^`]*`|</g, (match) => (match === "<" ? "&lt;" : match))
    .replaceAll(/\n(?!\n)(?<!\n\n)/g, " ");
}
