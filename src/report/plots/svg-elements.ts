/** SVG elements made one by one, with whatever document is at hand. */

export const SVG = "http://www.w3.org/2000/svg";

/** What of a document and its elements is used here. */
export interface SvgElement {
  textContent: string | null;
  setAttribute(name: string, value: string): void;
  append(...children: unknown[]): void;
}
export interface SvgDocument {
  createElementNS(namespace: string, name: string): SvgElement;
}

export function createElement(
  { document }: { readonly document: SvgDocument },
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  text?: string,
): SvgElement {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}
