/**
 * What the report of an audit by cause shows, as plain data, and how it is gathered from the audit's table: verdicts on
 * all groups and causes together, times in the unit that is shown, and the moment at which people are counted of a
 * hundred. It holds no row of the table and changes no score.
 */
import type { CauseAuditTable } from "../../verbs/causes/audit-causes.ts";
import { type JudgedCause, judgeCauses } from "../words/cause-words.ts";
import { binOfTime, chooseMoments, tellTime } from "../words/report-time.ts";
import { DEFAULT_TOLERANCE } from "../words/report-words.ts";
import type { AuditedRelation, ReportFinding, ReportProvenance, ReportTime } from "./report-data.ts";
import { createCells, findRevealing, forPage } from "./small-cells.ts";

/** What the report of an audit by cause is made from. */
export interface CauseReportInput {
  /** The page's title. */
  readonly title: string;
  /** The audit. */
  readonly audit: CauseAuditTable;
  /** The time grid of the curves. */
  readonly grid: { readonly edges: ArrayLike<number> }; // [T+1]
  /** The name and unit of time, such as "days"; "time" by default. */
  readonly timeLabel?: string | undefined;
  /** In the order in which they were audited, without the group of everyone. */
  readonly groups: readonly {
    readonly name: string;
    readonly expression?: string;
    /** Its members among the audited rows: groups inside one another are then seen. */
    readonly rows?: ArrayLike<number>;
  }[];
  /** Which columns hold the outcome. */
  readonly outcome: { readonly event: string; readonly time: string };
  /** The table's name. */
  readonly table: string;
  /** What a model has to do with these people; absent where the curves are of no known model. */
  readonly relation?: AuditedRelation;
  /** Whether the model learnt from start–stop rows: a curve is what follows if the row's features stay as they are. */
  readonly staysAsItIs?: boolean;
  /** How many people the rows belong to, where people have several; null where a row is a person. */
  readonly people?: number | null;
  /** How far off an incidence may be on average over time to be acceptable to the reader (0.05). */
  readonly tolerance?: number;
  /** Prints counts of people under five as they are. */
  readonly showSmallCells?: boolean;
  /** What the checks say about the table's outcome. */
  readonly findings?: readonly ReportFinding[];
  /** What else should be said; it names no count of people. */
  readonly notes?: readonly string[];
  /** The program, the command and the files the page came from. */
  readonly provenance: ReportProvenance;
}

/** Everything that the report of an audit by cause shows. */
export interface CauseReportData {
  readonly title: string;
  readonly audit: CauseAuditTable;
  /** Cause by cause, everyone first. */
  readonly lines: readonly JudgedCause[];
  /** Everyone, then the groups; who is in a group where its name does not say it. */
  readonly groups: readonly { readonly name: string; readonly expression: string | null }[];
  readonly time: ReportTime;
  /** The bin at whose end people are counted of a hundred; null where nothing is compared. */
  readonly momentBin: number | null;
  readonly outcome: CauseReportInput["outcome"];
  readonly table: string;
  readonly relation: AuditedRelation | null;
  readonly staysAsItIs: boolean;
  readonly people: number | null;
  readonly tolerance: number;
  readonly hidesSmallCells: boolean;
  /** Groups that are left out, since a few people would follow from them and from what is beside them. */
  readonly withheld: readonly string[];
  /** Findings, without rows and small counts, and notes. */
  readonly said: readonly string[];
  readonly provenance: ReportProvenance;
}

/** The page's data of an audit by cause. */
export function gatherCauseReport(input: CauseReportInput): CauseReportData {
  const { tolerance = DEFAULT_TOLERANCE } = input;
  const time = describeTime(input);
  const { overall } = input.audit.causes[0];
  const withheld = input.showSmallCells === true ? [] : listWithheld(input);
  const { audit, lines, groups } = leaveOut(input, judgeCauses(input.audit, tolerance, time), withheld);
  const named = groups.map(({ name, expression }) => ({
    name,
    expression: expression === undefined || expression === name ? null : expression,
  }));
  const cells = createCells(input.showSmallCells !== true);
  const moment = chooseMoments(time.edges[time.audited]).at(-1);
  return {
    title: input.title,
    audit,
    lines,
    groups: [{ name: overall.name, expression: null }, ...named],
    time,
    momentBin:
      moment === undefined || overall.incidence === null
        ? null
        : Math.min(binOfTime(time.edges, moment), time.audited),
    outcome: input.outcome,
    table: input.table,
    relation: input.relation ?? null,
    staysAsItIs: input.staysAsItIs === true,
    people: input.people ?? null,
    tolerance,
    hidesSmallCells: input.showSmallCells !== true,
    withheld,
    said: [
      ...(input.findings ?? []).map((one) => cells.sentence(forPage(one, {}).sentence)),
      ...(input.notes ?? []),
    ],
    provenance: input.provenance,
  };
}

/** Groups from which a few people would follow. */
function listWithheld({ audit, groups }: CauseReportInput): readonly string[] {
  const { overall, groups: scored } = audit.causes[0];
  const revealing = findRevealing(
    groups.map((group, g) => ({ ...group, n: scored[g].n })),
    overall.n,
  );
  return groups.flatMap(({ name }) => (revealing.has(name) ? [name] : []));
}

/** The audit, its lines and its groups without some of them. */
function leaveOut(
  { audit, groups }: CauseReportInput,
  lines: readonly JudgedCause[],
  withheld: readonly string[],
): Pick<CauseReportInput, "audit" | "groups"> & { readonly lines: readonly JudgedCause[] } {
  const kept = groups.flatMap(({ name }, g) => (withheld.includes(name) ? [] : [g + 1]));
  const places = new Map([0, ...kept].map((g, place) => [g, place]));
  const isKept = (_: unknown, g: number) => places.has(g + 1);
  return {
    audit: {
      ...audit,
      causes: audit.causes.map((cause) => ({ ...cause, groups: cause.groups.filter(isKept) })),
    },
    groups: groups.filter(isKept),
    lines: lines.flatMap((line) => {
      const g = places.get(line.g);
      return g === undefined ? [] : [{ ...line, g }];
    }),
  };
}

function describeTime({ audit, grid, timeLabel = "time" }: CauseReportInput): ReportTime {
  const { divisor, ...told } = tellTime(grid.edges, timeLabel);
  return {
    ...told,
    given: divisor === 1 ? null : { label: timeLabel, divisor },
    audited: audit.causes[0].overall.supported.bins,
  };
}
