/** Creates SVG elements one by one with the document at hand. */

export const SVG = "http://www.w3.org/2000/svg";

/** The parts of a document and its elements that are used here. */
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
