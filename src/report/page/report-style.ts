/** The report's style sheet: light or dark by the reader's preference, A4 on paper. Nothing is loaded. */
import { LIGHT, PALETTE_RULES } from "./palette.ts";

/** The style of a report and of a card, for pages of their own. */
export const REPORT_STYLE: string = `
${PALETTE_RULES}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; -webkit-text-size-adjust: 100%; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
.skip { position: absolute; left: -999px; }
.skip:focus { left: 12px; top: 12px; background: var(--surface); padding: 6px 12px; z-index: 2; }
header, main, footer { max-width: 1240px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 30px; }
.eyebrow { margin: 0; color: var(--muted); font-size: 14px; letter-spacing: .02em; }
h1 { font-size: 30px; line-height: 1.2; margin: 4px 0 6px; letter-spacing: -.01em; overflow-wrap: break-word; }
h2 { font-size: 22px; line-height: 1.25; margin: 44px 0 6px; letter-spacing: -.005em; }
h4 { font-size: 14px; margin: 0; }
h3 { font-size: 16px; margin: 0; overflow-wrap: break-word; }
p { margin: 0 0 12px; } .lead { color: var(--muted); max-width: 78ch; }
a { color: var(--link); }
a:focus-visible, button:focus-visible, summary:focus-visible, [tabindex]:focus-visible {
  outline: 3px solid var(--link); outline-offset: 2px; border-radius: 3px;
}
.subject { margin: 8px 0 0; font-size: 15px; max-width: 92ch; }
.subject div { display: grid; grid-template-columns: 62px minmax(0, 1fr); gap: 12px; padding: 2px 0; }
.subject dt { color: var(--muted); }
.subject dd { margin: 0; overflow-wrap: break-word; }
nav ul {
  list-style: none; display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 10px 0 0; padding: 0;
  font-size: 14px;
}
nav a { display: inline-block; padding: 3px 0; }
.card { background: var(--surface); border: 1px solid var(--rule); border-radius: 10px; padding: 18px 20px; }
.headline { margin-top: 18px; border-left: 7px solid var(--few); padding: 20px 24px; }
.headline.within { border-left-color: var(--agree-mark); }
.headline.off { border-left-color: var(--off-mark); }
.headline.open { border-left-color: var(--ink); }
.headline .say { font-size: 24px; line-height: 1.3; font-weight: 650; margin: 0 0 8px; letter-spacing: -.01em; }
.headline p:last-child { margin-bottom: 0; } .headline .lead { max-width: none; font-size: 14.5px; }
.tally { display: flex; flex-wrap: wrap; gap: 8px; margin: 12px 0; padding: 0; list-style: none; }
.chip {
  display: inline-flex; align-items: center; gap: 6px; border-radius: 13px; padding: 2px 11px 2px 8px;
  font-size: 13.5px; font-weight: 600; line-height: 1.5; color: var(--few); background: var(--few-ground);
}
.chip.within { color: var(--agree); background: var(--agree-ground); }
.chip.off { color: var(--off); background: var(--off-ground); }
.chip.doubt { color: var(--unsure); background: var(--unsure-ground); }
.chip.open { color: var(--ink); background: var(--surface); box-shadow: inset 0 0 0 1.5px var(--line); }
.chip svg { flex: none; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(240px, 1fr)); gap: 14px; margin-top: 14px; }
.tile h3 { font-size: 14px; color: var(--muted); font-weight: 600; }
.tile .value {
  font-size: 30px; font-weight: 650; line-height: 1.25; font-variant-numeric: tabular-nums;
  letter-spacing: -.01em;
}
.tile .value small {
  display: block; font-size: 14px; font-weight: 600; color: var(--ink); letter-spacing: 0; line-height: 1.4;
}
.tile p { font-size: 14px; margin: 4px 0 0; color: var(--muted); }
.scroll { overflow-x: auto; position: relative; }
td.left, th.left { text-align: left; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--muted); font-size: 14px; padding-bottom: 8px; }
th, td { padding: 6px 10px; text-align: right; vertical-align: top; border-bottom: 1px solid var(--rule); }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
td:last-child, th:last-child { padding-right: 0; }
thead th { font-weight: 600; vertical-align: bottom; color: var(--muted); border-bottom: 2px solid var(--line); }
tbody th { font-weight: 600; overflow-wrap: break-word; }
td { white-space: nowrap; } .glance td, td.left { white-space: normal; }
td small, th small {
  display: block; color: var(--muted); font-weight: 400; font-size: 12.5px; white-space: nowrap;
}
tbody th small { white-space: normal; }
.glance { table-layout: fixed; }
.glance td, .glance th { vertical-align: middle; padding-top: 5px; padding-bottom: 5px; text-align: left; }
.glance col.who { width: 25%; } .glance col.what { width: 28%; } .glance thead th { vertical-align: bottom; }
.glance [role=img] svg, .glance .axis svg { width: 100%; max-width: 280px; height: auto; display: block; }
.glance tr.axis td { border: 0; }
.glance small { white-space: normal; }
.glance .when { display: none; }
.glance .read { font-size: 12.5px; color: var(--muted); }
.scores table { font-size: 13.5px; }
.scores th, .scores td { padding-left: 7px; padding-right: 7px; }
.scores th[scope=row] { min-width: 120px; }
.scores .judged { text-align: left; }
.scores th[scope=row] { position: sticky; left: 0; background: var(--surface); }
.scores thead button {
  font: inherit; color: inherit; background: none; border: 0; padding: 4px 0; margin: 0; cursor: pointer;
  text-align: inherit; min-height: 28px;
}
.scores thead .last { white-space: nowrap; } .scores thead button:hover { text-decoration: underline; }
.scores thead .arrow { display: inline-block; width: .9em; text-align: right; color: var(--line); }
.scores th[aria-sort] .arrow { color: var(--ink); }
.scores tbody.everyone th, .scores tbody.everyone td {
  background: var(--page); border-bottom: 2px solid var(--line);
}
.scores tbody.everyone th { padding-left: 6px; }
.more { margin-top: 12px; }
.more table { font-size: 13.5px; }
.more th, .more td { padding: 6px 7px; }
.more summary { font-size: 15px; }
.notes { font-size: 13.5px; color: var(--muted); margin-top: 10px; padding-left: 22px; }
.notes :target { background: var(--unsure-ground); color: var(--ink); }
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(330px, 1fr)); gap: 16px; }
.panel { padding: 14px 16px 10px; break-inside: avoid; min-width: 0; scroll-margin-top: 12px; }
.panel header, .panel .title {
  display: flex; flex-wrap: wrap; gap: 4px 10px; align-items: baseline; justify-content: space-between;
  padding: 0;
}
.panel .who { color: var(--muted); font-size: 13.5px; margin: 1px 0 4px; overflow-wrap: break-word; }
.panel .gap { font-size: 13.5px; margin: 2px 0 6px; }
.figure svg { display: block; width: 100%; height: auto; } .figure text, svg text { white-space: pre; }
figure { margin: 0; break-inside: avoid; }
.wide {
  display: grid; grid-template-columns: minmax(0, 2.6fr) minmax(220px, 1fr); gap: 10px 24px;
  align-items: center;
}
.wide ul { margin: 0; padding-left: 18px; }
.wide li + li { margin-top: 8px; }
figcaption { font-size: 14px; color: var(--muted); margin-top: 6px; }
details { font-size: 13.5px; }
summary { cursor: pointer; color: var(--link); padding: 3px 0; }
details table { font-size: 12.5px; margin: 4px 0 6px; }
details th, details td { padding: 2px 5px; }
.legend {
  display: flex; flex-wrap: wrap; gap: 4px 22px; margin: 0 0 12px; padding: 0; list-style: none;
  font-size: 14px;
}
.legend li { display: flex; align-items: center; gap: 8px; }
.flow { display: flex; flex-wrap: wrap; align-items: stretch; gap: 10px; list-style: none; margin: 0; padding: 0; }
.flow > li { display: flex; align-items: center; gap: 10px; }
.flow > li + li::before { content: "\\2192"; color: var(--muted); font-size: 20px; }
.flow .box {
  border: 1px solid var(--line); border-radius: 8px; padding: 9px 14px; font-size: 14px;
  background: var(--surface); min-width: 128px;
}
.flow .box b { display: block; font-size: 20px; line-height: 1.25; font-variant-numeric: tabular-nums; }
.flow .box.end { border: 2px solid var(--ink); } .flow .box ul { margin: 2px 0 0; padding-left: 17px; }
.findings { list-style: none; margin: 8px 0 0; padding: 0; font-size: 14.5px; }
.findings li { padding: 6px 0; border-bottom: 1px solid var(--rule); overflow-wrap: break-word; }
.findings li:last-child { border: 0; }
.findings .chip { margin-right: 8px; }
.card > h3 + p { margin-top: 6px; } .three + .lead { margin-top: 12px; } p code { white-space: nowrap; }
.three { display: grid; grid-template-columns: repeat(auto-fill, minmax(300px, 1fr)); gap: 16px; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(440px, 100%), 1fr)); gap: 16px; }
.stack > * + * { margin-top: 16px; }
dl.words {
  margin: 0; display: grid; grid-template-columns: minmax(140px, 210px) 1fr; gap: 8px 18px; font-size: 14.5px;
}
dl.words dt { font-weight: 600; }
dl.words dd { margin: 0; }
.settings {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(250px, 1fr)); gap: 0 28px; margin: 0;
  font-size: 13.5px;
}
.settings div {
  display: flex; justify-content: space-between; gap: 12px; border-bottom: 1px solid var(--rule);
  padding: 4px 0; break-inside: avoid;
}
.settings dt { color: var(--muted); }
.settings dd { margin: 0; text-align: right; overflow-wrap: anywhere; }
pre, code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 13px; }
pre {
  white-space: pre-wrap; overflow-wrap: anywhere; background: var(--page); border: 1px solid var(--rule);
  border-radius: 6px; padding: 10px 12px; margin: 6px 0 14px;
}
td code { overflow-wrap: anywhere; white-space: normal; word-break: break-all; }
.hidden {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
footer { color: var(--muted); font-size: 13.5px; padding-top: 30px; padding-bottom: 40px; }
@media screen and (max-width: 720px) {
  header, main, footer { padding-left: 14px; padding-right: 14px; }
  h1 { font-size: 24px; }
  .headline .say { font-size: 20px; }
  .card { padding: 14px; }
  .headline { padding: 16px; }
  .panels, .three, .wide { grid-template-columns: minmax(0, 1fr); }
  dl.words { grid-template-columns: 1fr; gap: 2px; }
  dl.words dd { margin-bottom: 8px; }
  .glance, .glance tbody, .glance tr, .glance th, .glance td { display: block; width: auto; }
  .glance thead { display: none; }
  .glance colgroup { display: none; }
  .glance tr { border-bottom: 1px solid var(--rule); padding: 8px 0; }
  .glance tbody th, .glance tbody td { border: 0; padding: 2px 0; }
  .glance .axis { display: none; }
  .glance .when { display: inline; }
  .flow > li { width: 100%; }
  .flow .box { flex: 1; }
  .wide-only { display: none; }
  .subject div { grid-template-columns: 1fr; gap: 0; padding: 4px 0; }
  .main, .main tbody, .main tr, .main th, .main td, .constraints, .constraints tbody, .constraints tr,
  .constraints th, .constraints td {
    display: block; width: auto;
  }
  .main thead, .constraints thead { display: none; }
  .main tr, .constraints tr { border-bottom: 1px solid var(--rule); padding: 8px 0; }
  .main tbody th, .constraints tbody th { border: 0; padding: 0 0 4px; position: static; }
  .main tbody.everyone th, .main tbody.everyone td { background: none; border: 0; padding-left: 0; }
  .main tbody td, .constraints tbody td {
    display: flex; flex-wrap: wrap; gap: 0 10px; justify-content: space-between; border: 0; padding: 1px 0;
    text-align: right; white-space: normal;
  }
  .main td::before, .constraints td::before {
    content: attr(data-label); color: var(--muted); margin-right: auto; text-align: left;
  }
  .main td small { align-self: center; }
  .settings { grid-template-columns: minmax(0, 1fr); } td code { font-size: 11.5px; }
}

@page { size: A4; margin: 14mm 13mm; }
@media print {
  :root { color-scheme: light; ${LIGHT} --page: #ffffff; }
  body { font-size: 10pt; line-height: 1.4; -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  header, main, footer { max-width: none; padding: 0; } nav, .skip, .scores thead .arrow { display: none; }
  h1 { font-size: 20pt; }
  h2 { font-size: 14pt; margin-top: 20pt; break-after: avoid; }
  h2 + .lead { break-after: avoid; }
  .lead { max-width: none; } h4 { font-size: 9pt; }
  .card { padding: 9pt 10pt; } .headline .say { font-size: 14pt; } .tile .value { font-size: 18pt; }
  .tiles { grid-template-columns: repeat(4, 1fr); gap: 7pt; }
  .tile p { font-size: 8pt; }
  .card.tile, .headline, .flow, .words dt, .words dd { break-inside: avoid; }
  .panels { grid-template-columns: 1fr 1fr; gap: 8pt; }
  .panel { padding: 6pt 8pt; }
  .panel .figure svg { height: 43mm; width: auto; max-width: 100%; margin: 0 auto; }
  .panel .gap { margin: 0; }
  .legend { break-after: avoid; break-inside: avoid; gap: 2pt 12pt; }
  section[aria-labelledby=groups] { break-before: page; }
  .three { grid-template-columns: repeat(3, 1fr); gap: 8pt; }
  .two { grid-template-columns: 1fr 1fr; gap: 8pt; }
  details { display: none; } p, li { break-inside: avoid; } .scroll { overflow: visible; }
  tr { break-inside: avoid; }
  tbody th { overflow-wrap: anywhere; }
  .scores table { font-size: 6.6pt; }
  .scores th, .scores td { padding: 2.5pt 2.4pt; }
  .scores small { font-size: 6pt; }
  .scores .card { padding: 5pt; }
  .scores .judged { white-space: normal; }
  .scores .chip { font-size: 6.2pt; padding: 0 4pt; border-radius: 5pt; line-height: 1.25; }
  .scores .chip svg { display: none; }
  .scores th[scope=row] { min-width: 60pt; position: static; }
  .chip { font-size: 8pt; padding: 0 6pt 0 5pt; gap: 3pt; }
  .headline .lead, .panel .gap, .panel .who, figcaption, caption, table, dl.words, .findings, .legend,
  .flow .box {
    font-size: 8.5pt;
  }
  td small, th small, .settings, details { font-size: 7.5pt; }
  .tile h3 { font-size: 8.5pt; }
  .tile .value small { font-size: 8.5pt; }
  h3 { font-size: 10pt; }
  .flow .box b { font-size: 12pt; }
  pre, code { font-size: 7.5pt; }
  .glance th, .glance td { padding-top: 2pt; padding-bottom: 2pt; }
  .glance col.who { width: 30%; }
  .glance col.what { width: 20%; }
  a { color: inherit; text-decoration: none; }
}
`;
