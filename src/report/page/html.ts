/**
 * HTML as values: the `html` tag escapes every piece of text put into it, in text and in quoted attributes alike, and
 * lets through only what another `html` made. Names of groups, columns and files come from outside and are hostile
 * until escaped; with the tag, escaping cannot be forgotten anywhere in the report.
 * A backslash at the end of a template's line joins it to the next, as in any template.
 */
import { safeText } from "../../core/text.ts";

/** Markup that is safe as it stands. Only `html` and `trustMarkup` make it. */
export interface Html {
  readonly markup: string;
}

export type HtmlValue = Html | string | number | null | readonly HtmlValue[];

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Lone surrogates and Unicode noncharacters: neither XML nor a page may contain them. */
const NOT_TEXT = /[\ufffe\uffff]|\p{Surrogate}/gu;

/**
 * Control characters are spelled out (core/text.ts); lone surrogates and noncharacters become U+FFFD. Well-formed
 * markup stays well-formed.
 */
export function cleanText(text: string): string {
  return safeText(text).replace(NOT_TEXT, "\ufffd");
}

const BARE_AMPERSAND = /&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\da-f]+);)/gi;

/**
 * An SVG element serialised as XML. HTML serialisation leaves < and & unescaped in attributes; in text, where they are
 * already escaped, anything that looks like an attribute is left as it is.
 */
export function svgMarkup(serialised: string): string {
  return cleanText(serialised).replace(/="[^"]*"/g, (attribute) =>
    attribute.replace(BARE_AMPERSAND, "&amp;").replaceAll("<", "&lt;"),
  );
}

export function escapeText(text: string): string {
  return cleanText(text).replace(/[&<>"']/g, (character) => ESCAPES[character]);
}

function toMarkup(value: HtmlValue): string {
  if (value === null) return "";
  if (typeof value === "string") return escapeText(value);
  if (typeof value === "number") return String(value);
  if ("markup" in value) return value.markup;
  return value.map(toMarkup).join("");
}

export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return { markup: strings.reduce((text, part, k) => text + toMarkup(values[k - 1]) + part) };
}

/** For markup that escapes its own text: a serialised SVG element, the page's own style and script. */
export function trustMarkup(markup: string): Html {
  return { markup };
}

/** A name from outside, isolated so that its writing direction cannot reorder the words around it. */
export function nameOf(name: string): Html {
  return html`<bdi>${name}</bdi>`;
}
