/**
 * Figures of several causes: incidences stacked, so that what is left above them is the chance of no event. Areas stand
 * in the order of the causes from below, which the legend says, so that colour is never all that tells them apart.
 */
import type { CauseCurve, Curve, PersonCause } from "../protocol.ts";
import { type Drawing, type Parts, PLACE, pointsOf, SMALL_FRAME, SURVIVAL_AXIS } from "./plots.tsx";

/** Colours of causes, in turn; a second round is paler. */
const CAUSE_COLOURS = ["var(--series-3)", "var(--series-1)", "var(--series-2)", "var(--series-4)"] as const;
const CAUSE_STRENGTHS = [0.55, 0.25] as const;

const lookOf = (k: number) => ({
  colour: CAUSE_COLOURS[k % CAUSE_COLOURS.length],
  strength: CAUSE_STRENGTHS[Math.floor(k / CAUSE_COLOURS.length) % CAUSE_STRENGTHS.length],
});

/** Incidences on top of each other; what is left above them is the chance of no event. */
function stack(plot: Parts, causes: readonly Pick<CauseCurve, "time" | "incidence">[], isStep: boolean) {
  const total = causes[0].time.map(() => 0);
  return causes.flatMap(({ time, incidence }, k) => {
    const points = time.map((one, t) => {
      const low = total[t];
      total[t] += incidence[t];
      return { time: one, low, high: total[t] };
    });
    const { colour, strength } = lookOf(k);
    const curve = isStep ? ("step-after" as const) : ("linear" as const);
    return [
      plot.areaY(points, { x: "time", y1: "low", y2: "high", curve, fill: colour, fillOpacity: strength }),
      plot.lineY(points, { x: "time", y: "high", curve, stroke: colour, strokeWidth: 1.6 }),
    ];
  });
}

/** What the areas are, from below. */
export function CauseLegend({ causes }: { readonly causes: readonly { readonly name: string }[] }) {
  return (
    <p class="legend causes-legend">
      {causes.map(({ name }, k) => {
        const { colour, strength } = lookOf(k);
        return (
          <span key={name}>
            <i aria-hidden="true" style={{ borderColor: colour }}>
              <b style={{ background: colour, opacity: strength }} />
            </i>
            <bdi>{name}</bdi>
          </span>
        );
      })}
      <em>from below; above them no event</em>
    </p>
  );
}

/** Observed incidences of several causes. */
export function drawCauses(causes: readonly CauseCurve[], unit: string): Drawing {
  return (plot) => ({
    marginLeft: 44,
    marginBottom: 34,
    x: { label: unit === "" ? "time" : unit, ticks: 5, nice: false, labelArrow: "none" },
    y: { ...SURVIVAL_AXIS, grid: true },
    marks: stack(plot, causes, true),
  });
}

export function drawSmallCauses(causes: readonly CauseCurve[]): Drawing {
  return (plot) => ({ ...SMALL_FRAME, marks: stack(plot, causes, true) });
}

/** A person's incidences of several causes; dotted, everyone's of any cause. */
export function drawPersonCauses(
  time: readonly number[],
  causes: readonly PersonCause[],
  everyone: Curve,
  unit: string,
): Drawing {
  const any = pointsOf(everyone).map(({ time: one, survival }) => ({ time: one, survival: 1 - survival }));
  return (plot) => ({
    marginLeft: 44,
    marginBottom: 34,
    x: { label: unit === "" ? "time" : unit, ticks: 6, labelArrow: "none" },
    y: { ...SURVIVAL_AXIS, grid: true },
    marks: [
      ...stack(
        plot,
        causes.map(({ incidence }) => ({ time, incidence })),
        false,
      ),
      plot.lineY(any, { ...PLACE, stroke: "var(--muted)", strokeWidth: 1.8, strokeDasharray: "2 4" }),
    ],
  });
}
