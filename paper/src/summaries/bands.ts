/** What the page on bands shows: coverage by law and size, for the shipped bands and their rivals, and where they fail. */
import {
  BAND_KINDS,
  type BandKind,
  type BandLine,
  type BandsPlan,
  type Coverage,
  expandBandsPlan,
} from "../studies/bands.ts";
import { type Estimate, estimate, mean } from "./summary.ts";

/** One kind of band, over cohorts. */
export interface BandRow {
  readonly system: "graduate" | "cox";
  readonly kind: BandKind;
  readonly cohorts: number;
  readonly covered: Estimate;
  readonly width: number;
}

/** A group over cohorts: rows it was learnt from, how often its members' bands cover and their bounds hold. */
export interface BandGroup {
  readonly group: string;
  readonly rows: number;
  readonly covered: number;
  readonly held: number;
}

export interface BandPart {
  readonly law: string;
  readonly rows: number;
  readonly events: number;
  readonly bands: readonly BandRow[];
  /** Of the shipped bands of the default. */
  readonly byRisk: readonly number[]; // [10]
  readonly byTime: readonly number[]; // [10]
  /** Fewest rows first. */
  readonly groups: readonly BandGroup[];
  readonly bounds: readonly {
    readonly system: "graduate" | "cox";
    readonly held: Estimate;
    readonly beyond: number;
  }[];
  readonly bytes: { readonly model: number; readonly uncertainty: number };
}

export interface BandsSummary {
  readonly plan: BandsPlan;
  readonly planned: number;
  readonly made: number;
  readonly parts: readonly BandPart[];
}

export function summariseBands(plan: BandsPlan, lines: readonly BandLine[]): BandsSummary {
  const planned = expandBandsPlan(plan);
  const made = lines.filter((line) =>
    planned.some(
      ({ law, rows, seed, system }) =>
        line.law === law && line.rows === rows && line.seed === seed && line.system === system,
    ),
  );
  const parts = plan.parts.flatMap(({ law, rows }) => {
    const own = made.filter((line) => line.law === law && line.rows === rows);
    return own.some(({ system }) => system === "graduate") ? [summarisePart(plan, law, rows, own)] : [];
  });
  return { plan, planned: planned.length, made: made.length, parts };
}

function summarisePart(plan: BandsPlan, law: string, rows: number, lines: readonly BandLine[]): BandPart {
  const of = (system: string) => lines.filter((line) => line.system === system);
  const own = of("graduate");
  const systems = plan.systems.filter((system) => of(system).length > 0);
  const shipped = own.map(({ bands }) => bands.shipped).filter((one) => one !== undefined);
  const meanOf = (read: (coverage: Coverage) => readonly number[]) =>
    Array.from(read(shipped[0]), (_, k) => mean(shipped.map((one) => read(one)[k])));
  const names = Object.keys(own[0].groups);
  return {
    law,
    rows,
    events: mean(own.map(({ events }) => events)),
    bands: systems.flatMap((system) => BAND_KINDS.flatMap((kind) => summariseKind(system, kind, of(system)))),
    byRisk: meanOf(({ byRisk }) => byRisk),
    byTime: meanOf(({ byTime }) => byTime),
    groups: names
      .map((group) => ({
        group,
        rows: mean(own.map(({ groups }) => groups[group] ?? 0)),
        covered: mean(shipped.map(({ byGroup }) => byGroup[group])),
        held: mean(own.map(({ bound }) => bound.byGroup[group])),
      }))
      .sort((a, b) => a.rows - b.rows),
    bounds: systems.map((system) => ({
      system,
      held: estimate(of(system).map(({ bound }) => bound.held)),
      beyond: mean(of(system).map(({ bound }) => bound.beyond)),
    })),
    bytes: {
      model: mean(own.map(({ bytes }) => bytes.model)),
      uncertainty: mean(own.map(({ bytes }) => bytes.uncertainty)),
    },
  };
}

function summariseKind(system: BandRow["system"], kind: BandKind, lines: readonly BandLine[]): BandRow[] {
  const found = lines.map(({ bands }) => bands[kind]).filter((one) => one !== undefined);
  if (found.length === 0) return [];
  return [
    {
      system,
      kind,
      cohorts: found.length,
      covered: estimate(found.map(({ covered }) => covered)),
      width: mean(found.map(({ width }) => width)),
    },
  ];
}
