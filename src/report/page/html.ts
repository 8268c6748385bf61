/**
 * HTML as values: the `html` tag escapes every piece of text put into it, in text and in quoted attributes alike, and
 * lets through only what another `html` made. Names of groups, columns and files come from outside and are hostile
 * until escaped; with the tag there is no place in the report where one can be forgotten.
 * A backslash at the end of a template's line joins it with the next, as in any template.
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

/** Half surrogates and what Unicode calls no characters: neither XML nor a page may carry them. */
const NOT_TEXT = /[\ufffe\uffff]|\p{Surrogate}/gu;

/**
 * Control characters are spelled out (core/text.ts), what is no character becomes U+FFFD. Markup that is whole stays
 * so.
 */
export function cleanText(text: string): string {
  return safeText(text).replace(NOT_TEXT, "\ufffd");
}

const BARE_AMPERSAND = /&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\da-f]+);)/gi;

/**
 * An SVG element's serialisation as XML. That of HTML lets < and & stand in attributes; in text, where they are escaped
 * already, what looks like an attribute is left as it is.
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

/** For markup that escapes its own text: an SVG element's serialisation, the page's own style and script. */
export function trustMarkup(markup: string): Html {
  return { markup };
}

/** A name from outside; isolated, so that its writing direction cannot reorder the words around it. */
export function nameOf(name: string): Html {
  return html`<bdi>${name}</bdi>`;
}
