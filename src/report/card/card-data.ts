/**
 * A card in the words of a page: times in the unit that is shown, risks as people out of a hundred, the columns that
 * drive a risk with the strongest first, and what the model does not know. The numbers are those of `gatherCard`
 * (verbs/people/card.ts); none is computed here.
 */
import { countOf } from "../../core/text.ts";
import type { CardData, CardRisk } from "../../verbs/people/card.ts";
import type { Explanation } from "../../verbs/people/explain.ts";
import type { Breakdown } from "../../verbs/people/explained-quantities.ts";
import { chooseTimeUnit, momentOf, roundedDurationOf } from "../words/report-time.ts";

export type { CardData };

/** A card's times in the unit that is shown. */
export interface CardTime {
  readonly label: string;
  readonly edges: readonly number[]; // [T+1]
  /** "5 years" of a time in the table's unit. */
  momentOf(time: number): string;
  /** The same, rounded: the time may be one person's own. */
  roundedOf(time: number): string;
  /** The end of the curves, rounded: it may be one person's own time. */
  readonly horizon: string;
}

/** How a card writes times: their unit, and the end of the curves. */
export function showTime({ time }: Pick<CardData, "time">): CardTime {
  const end = time.edges[time.edges.length - 1];
  const { label, divisor } = chooseTimeUnit(time.label, end);
  const roundedOf = (at: number) => {
    const rounded = roundedDurationOf(at / divisor, label);
    return label === "time" ? `time ${rounded}` : rounded;
  };
  return {
    label,
    edges: Array.from(time.edges, (edge) => edge / divisor),
    momentOf: (at) => momentOf(at / divisor, label),
    roundedOf,
    horizon: roundedOf(end),
  };
}

/** People out of so many. */
export interface Frequency {
  readonly count: number;
  readonly of: 100 | 1000;
  /** "12", or "fewer than 1", "more than 999". */
  readonly words: string;
}

/** Below this risk a hundred people are too few to speak of. */
const RARE = 0.01;

/** 12 of 100; rare or nearly certain events are counted among a thousand. */
export function toFrequency(risk: number): Frequency {
  const of = risk < RARE || risk > 1 - RARE ? 1000 : 100;
  const count = Math.round(of * risk);
  const words = count === 0 ? "fewer than 1" : count === of ? `more than ${of - 1}` : String(count);
  return { count, of, words };
}

/** What one decimal of a percentage can tell from none and from all. */
const LEAST_SHOWN = 0.001;

/** "12 %"; one decimal for small and large risks, and never 0 or 100 where something is left. */
export function percentRisk(risk: number): string {
  if (risk > 0 && risk < LEAST_SHOWN) return "under 0.1 %";
  if (risk < 1 && risk > 1 - LEAST_SHOWN) return "over 99.9 %";
  const isExtreme = risk < 10 * RARE || risk > 1 - RARE;
  return `${Number((100 * risk).toFixed(isExtreme ? 1 : 0))} %`;
}

/** "Of 100 people like this, 12 have had the event by 5 years." */
export function riskSentence(risk: number, moment: string): string {
  const { words, of } = toFrequency(risk);
  const have = words === "1" || words === "fewer than 1" ? "has" : "have";
  return `Of ${of} people like this, ${words} ${have} had the event by ${moment}.`;
}

/** What the limits of the curve and everyone's mean say beside it. */
export function besideRisk({ risk, everyone, limits }: CardRisk, level: number | null): string {
  const mean = toFrequency(everyone);
  const range = limits === null || level === null ? "" : `${rangeSentence(risk, limits, level)} `;
  return `${range}Everyone’s mean: ${mean.words} of ${mean.of}.`;
}

/** "Between 4 and 15 of 1000 (95 % band).", of as many people as the sentence of the risk counts. */
export function rangeSentence(
  risk: number,
  { lower, upper }: { readonly lower: number; readonly upper: number },
  level: number,
): string {
  const { of } = toFrequency(risk);
  const [least, most] = [Math.round(of * lower), Math.round(of * upper)];
  return `Between ${least} and ${most} of ${of} (${Math.round(100 * level)} % band).`;
}

/** A column and what it does to the risk. */
export interface Driver {
  readonly name: string;
  readonly value: string;
  readonly contribution: number;
  /** Of drawing orders; null of several columns together, whose errors are not independent. */
  readonly standardError: number | null;
}

/** Columns shown by themselves; the others are one line. */
const MOST_DRIVERS = 12;
/** Longer cells are cut. */
const LONGEST_VALUE = 40;

/** The strongest first, the rest together. */
export function listDrivers(
  { columns }: Pick<Explanation, "columns">,
  { contributions, standardErrors }: Pick<Breakdown, "contributions" | "standardErrors">,
): readonly Driver[] {
  const all = columns.map(({ name, kind, value }, c) => ({
    name: kind === "group" ? `in ${name}` : name,
    value: kind === "group" ? (value === "in it" ? "yes" : "no") : cutValue(value ?? "missing"),
    contribution: contributions[c],
    standardError: standardErrors[c],
  }));
  const sorted = all.toSorted((a, b) => Math.abs(b.contribution) - Math.abs(a.contribution));
  if (sorted.length <= MOST_DRIVERS) return sorted;
  const rest = sorted.slice(MOST_DRIVERS - 1);
  const others = {
    name: countOf(rest.length, "other column"),
    value: "",
    contribution: rest.reduce((sum, one) => sum + one.contribution, 0),
    standardError: null,
  };
  return [...sorted.slice(0, MOST_DRIVERS - 1), others];
}

function cutValue(value: string): string {
  const characters = [...value];
  return characters.length > LONGEST_VALUE ? `${characters.slice(0, LONGEST_VALUE).join("")}…` : value;
}

/** Names that a sentence lists before it counts. */
const MOST_NAMED = 8;

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMED).join(", ");
  return names.length > MOST_NAMED ? `${shown} and ${names.length - MOST_NAMED} more` : shown;
}

/** What the model does not know, one sentence each. */
export function listUnknown({ unseen, event, staysAsItIs }: CardData, time: CardTime): readonly string[] {
  return [
    ...(staysAsItIs === true
      ? ["What changes later: the curve is what follows if these features stay as they are."]
      : []),
    `Nothing after ${time.horizon}: the curves end there.`,
    "This person’s own future: the curve is what happens to many people with the same cells. Being right for a group " +
      "is being right on average in it.",
    "Causes: a column that raises the risk need not cause it, and changing a cell changes the prediction, not the " +
      "person.",
    ...(unseen.columns.length === 0
      ? []
      : [`Columns of the table that it was not given: ${listNames(unseen.columns)}.`]),
    ...(unseen.groups.length === 0
      ? []
      : [
          `Who is in ${listNames(unseen.groups)}: it was not told, even where it was held to be right there on ` +
            "average.",
        ]),
    `Anything that is not in the table, and how the event (${event}) is decided where this person lives.`,
  ];
}
