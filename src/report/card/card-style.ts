/** What a card needs beyond the report's style sheet (report-style.ts), whose variables it takes. */
export const CARD_STYLE: string = `
.person { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 16px; }
.person > .full { grid-column: 1 / -1; }
.person h2 { font-size: 18px; margin: 0 0 6px; }
.person .lead { font-size: 14px; margin-bottom: 10px; }
.risks { display: grid; grid-template-columns: repeat(auto-fit, minmax(92px, 1fr)); gap: 18px; }
.risks h3 { font-size: 14px; color: var(--muted); font-weight: 600; }
.risks .value { font-size: 30px; font-weight: 650; line-height: 1.25; font-variant-numeric: tabular-nums; }
.risks p { font-size: 14px; margin: 6px 0 0; }
.risks .beside { color: var(--muted); font-size: 13.5px; }
.hundred svg { display: block; width: 100%; max-width: 150px; height: auto; margin-top: 6px; }
.hundred .had { fill: var(--predicted); stroke: var(--predicted); stroke-width: .9; }
.hundred .free { fill: none; stroke: var(--line); stroke-width: .9; }
.person .key { flex: none; vertical-align: -1px; }
.causes { list-style: none; margin: 6px 0 0; padding: 0; font-size: 14px; overflow-wrap: anywhere; }
.causes li + li { margin-top: 4px; } .causes .beside { display: block; } .causes b { white-space: nowrap; }
.drivers { table-layout: fixed; }
.drivers col.name { width: 34%; } .drivers col.points { width: 19%; }
.drivers th, .drivers td { vertical-align: middle; padding: 4px 8px; }
.drivers tbody th { font-weight: 600; } .drivers th small { white-space: normal; overflow-wrap: anywhere; }
.drivers .bar { display: block; width: 100%; height: 14px; }
.bar .rises { fill: var(--predicted); } .bar .falls { fill: var(--observed); }
.bar .middle { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
.like { table-layout: fixed; } .like col.name { width: 38%; } .like col.count { width: 19%; }
.like.causes col.name { width: 28%; } .like.causes col.count { width: 17%; }
.like th, .like td { padding: 6px 5px; white-space: normal; } .like tbody th { overflow-wrap: anywhere; }
.like td small { white-space: normal; }
.drivers .total th, .drivers .total td { border-top: 2px solid var(--line); border-bottom: 0; }
.person ul.plain { margin: 0; padding-left: 18px; font-size: 14.5px; }
.person ul.plain li + li { margin-top: 6px; }
@media screen and (max-width: 720px) {
  .person { grid-template-columns: minmax(0, 1fr); }
  .risks { gap: 12px; }
  .drivers th, .drivers td { padding: 4px 5px; }
}
@media print { .person { gap: 8pt; } .person > * { break-inside: avoid; } }
`;
