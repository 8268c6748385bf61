/** What every report's page has around its sections: the head with its policy, the title, the contents and the foot. */
import { cleanText, type Html, html, trustMarkup } from "./html.ts";
import { REPORT_POLICY } from "./policy.ts";
import { REPORT_STYLE } from "./report-style.ts";

export interface ReportFrame {
  readonly data: {
    readonly title: string;
    readonly provenance: { readonly program: string; readonly created?: string };
  };
  /** What kind of report this is. */
  readonly kind: string;
  readonly subject: Html;
  readonly contents: readonly { readonly id: string; readonly title: string }[];
  readonly main: Html;
  /** The page's only script, whose hash the policy names. */
  readonly script?: string;
}

export function renderFrame({ data, kind, subject, contents, main, script }: ReportFrame): string {
  const { program, created } = data.provenance;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${REPORT_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${cleanText(data.title)}</title>
<style>${trustMarkup(REPORT_STYLE)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the result</a>
<header><p class="eyebrow">${kind} · ${program}${created === undefined ? "" : ` · ${created}`}</p>
<h1><bdi>${data.title}</bdi></h1>
${subject}
<nav aria-label="Contents"><ul>${contents.map(
    ({ id, title }) => html`<li><a href="#${id}"><bdi>${title}</bdi></a></li>`,
  )}</ul></nav></header>
<main id="main">
${main}
</main>
<footer>Made by ${program}. Not a medical device: it helps people check models, it does not decide about anyone.\
</footer>
${script === undefined ? null : html`<script>${trustMarkup(script)}</script>\n`}</body>
</html>
`;
  return page.markup;
}
