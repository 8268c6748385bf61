/**
 * What the figures have in common: the colours, which are Okabe and Ito's and follow the reader's light or dark theme,
 * and how a chart of Observable Plot becomes the text of an SVG file.
 */
import { svgMarkup } from "graduate-survival/report";

/** Coordinates beyond this many decimals are rounding error of the machine that drew them. */
const DECIMALS = 6;

export function roundValue(value: number): number {
  return Number(value.toFixed(DECIMALS));
}

const LIGHT =
  "--ink:#222;--muted:#666;--grid:#ddd;--paper:#fff;" +
  "--series-1:#0072B2;--series-2:#D55E00;--series-3:#00795a;color:var(--ink);background:var(--paper)";
const DARK =
  "--ink:#e8e8e8;--muted:#a8a8a8;--grid:#3a3a3a;--paper:#16181c;" +
  "--series-1:#56B4E9;--series-2:#F0A030;--series-3:#35c79a";

interface Chart {
  setAttribute(name: string, value: string): void;
  readonly outerHTML: string;
}

/** Attributes that say where something is, in pixels: half a tenth of one cannot be seen. */
const PLACES = / (d|x|y|x1|x2|y1|y2|cx|cy|points|transform)="[^"]*"/g;

function roundPlaces(markup: string): string {
  const rounded = markup.replace(PLACES, (place) =>
    place.replace(/-?\d+\.\d{2,}/g, (number) => String(Number(Number(number).toFixed(1)))),
  );
  return rounded.replace(/ d="(M[\d.,L-]+)"/g, (_, path: string) => ` d="${straighten(path)}"`);
}

/** A point this far from the line between its neighbours, in pixels, cannot be seen to be off it. */
const UNSEEN = 0.15;

/** A line of points without those that lie on the way from the last one kept to the next: curves are mostly flat. */
function straighten(path: string): string {
  const points = path
    .slice(1)
    .split("L")
    .map((point) => point.split(",").map(Number));
  const isOnTheWay = (from: number, to: number) => {
    const [x, y] = points[from];
    const [across, down] = [points[to][0] - x, points[to][1] - y];
    const length = Math.hypot(across, down);
    return points
      .slice(from + 1, to)
      .every(([px, py]) => Math.abs((px - x) * down - (py - y) * across) <= UNSEEN * length);
  };
  const kept = [0];
  for (let to = 2; to < points.length; to++) if (!isOnTheWay(kept[kept.length - 1], to)) kept.push(to - 1);
  if (points.length > 1) kept.push(points.length - 1);
  return `M${kept.map((k) => points[k].join(",")).join("L")}`;
}

/** `className` is the one the chart was plotted with. */
export function writeSvg(chart: Chart, className: string): string {
  chart.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  chart.setAttribute("role", "img");
  const style = `svg.${className}{${LIGHT}}
@media (prefers-color-scheme:dark){svg.${className}{${DARK}}}`;
  return roundPlaces(svgMarkup(chart.outerHTML)).replace(
    /<style>[\s\S]*?<\/style>/,
    (own: string) => `${own}<style>${style}</style>`,
  );
}
