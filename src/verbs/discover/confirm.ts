/**
 * The second half of discover: each group that the search found is tested on the rows that no choice has seen, for the
 * departure that the searched rows showed and in the same direction. The p-values are adjusted by Holm with weights
 * that fall along the list. A confirmed group is marked as explained if the groups before it account for it.
 */
import { evaluateGroup } from "../../data/groups/group-members.ts";
import type { Table } from "../../data/table.ts";
import {
  type BinBlock,
  type BlockTotals,
  describeExcess,
  type ExcessEvents,
  estimateDirection,
  sumTotals,
  testExcess,
  testReplication,
} from "../../stats/search/excess-events.ts";

/** Events of the confirming rows, and whether they replicate what the searched rows showed. */
export interface ReplicatedExcess extends ExcessEvents {
  /** One-sided p of the departure that the searched rows showed, in level and over time (excess-events.ts). */
  readonly replicationP: number;
}

export interface DiscoveredGroup {
  /** As `--group` takes it. */
  readonly expression: string;
  /**
   * −log p of the searched rows when the group was found, minus the log number of groups like it (search-groups.ts):
   * chance gives 0.
   */
  readonly score: number;
  /** On the searched rows: flattered by the search. */
  readonly search: ExcessEvents;
  /** On the other rows. */
  readonly confirm: ReplicatedExcess;
  /** Its share of the level, by its position in the search; the `top` shares sum to 1. */
  readonly weight: number;
  /** confirm.replicationP adjusted over all groups listed (Holm, by weight). */
  readonly adjustedP: number;
  readonly confirmed: boolean;
  /**
   * For a confirmed group: its confirming rows that are in no confirmed group before it in the list; null for the
   * others.
   */
  readonly beyond: ReplicatedExcess | null;
  /** Confirmed, but accounted for by the groups before it: beyond them it does not replicate (p above the level). */
  readonly explained: boolean;
  /** What the confirming rows show, in words. */
  readonly direction: string;
}

/** What the groups are tested with. */
export interface ConfirmInput {
  readonly table: Table;
  readonly halves: { readonly search: Int32Array; readonly confirm: Int32Array };
  readonly totals: { readonly search: BlockTotals; readonly confirm: BlockTotals };
  readonly blocks: readonly BinBlock[];
  /** How much more events vary because people have several rows, … */
  readonly shared: number;
  /** … and that factor times the one for curves learnt from few training rows. */
  readonly dispersion: number;
  readonly level: number;
  readonly top: number;
}

/** A group as the search found it. */
export interface FoundGroup {
  readonly expression: string;
  readonly score: number;
}

/** Sorted by adjusted p-value. */
export function confirmGroups(found: readonly FoundGroup[], input: ConfirmInput): readonly DiscoveredGroup[] {
  const { halves, level, top } = input;
  const tested = found.map((group) => testGroup(group, input));
  const weights = weighByPlace(tested.length, top);
  const adjusted = holmWeighted(
    tested.map(({ confirm }) => confirm.replicationP),
    weights,
  );
  const ordered = tested
    .map((group, k) => ({
      ...group,
      weight: weights[k],
      adjustedP: adjusted[k],
      confirmed: adjusted[k] <= level,
    }))
    .sort((a, b) => a.adjustedP - b.adjustedP || a.confirm.replicationP - b.confirm.replicationP);
  const taken = new Uint8Array(halves.confirm.length);
  return ordered.map(({ places, replicate, ...group }): DiscoveredGroup => {
    const direction = describeExcess(group.confirm);
    if (!group.confirmed) return { ...group, beyond: null, explained: false, direction };
    const beyond = replicate(places.filter((place) => taken[place] === 0));
    for (const place of places) taken[place] = 1;
    return { ...group, beyond, explained: beyond.replicationP > level, direction };
  });
}

function testGroup({ expression, score }: FoundGroup, input: ConfirmInput) {
  const { table, halves, totals, blocks, shared, dispersion } = input;
  const B = blocks.length;
  // The test is on exactly the people that the printed expression selects.
  const members = evaluateGroup(expression, table);
  const places = placesOf(members, halves.confirm);
  const own = placesOf(members, halves.search);
  const direction = estimateDirection(sumTotals(totals.search, own), B);
  const replicate = (rows: Int32Array): ReplicatedExcess => ({
    ...testExcess(totals.confirm, blocks, rows, { dispersion: shared }),
    replicationP: testReplication(sumTotals(totals.confirm, rows), B, direction, dispersion),
  });
  const search = testExcess(totals.search, blocks, own);
  return { expression, score, places, replicate, search, confirm: replicate(places) };
}

/** Of `top` places, the k-th has 1/k of the first one's share of the level; shares of empty places go to nobody. */
function weighByPlace(count: number, top: number): number[] {
  const sum = Array.from({ length: top }, (_, k) => 1 / (k + 1)).reduce((total, one) => total + one, 0);
  return Array.from({ length: count }, (_, k) => 1 / (k + 1) / sum);
}

/**
 * Holm's (1979) adjusted p-values with weights that sum to at most 1: by increasing p/w, p · (1 − Σ of the weights
 * before)/w.
 */
export function holmWeighted(p: readonly number[], weights: readonly number[]): number[] {
  const order = p.map((_, k) => k).sort((a, b) => p[a] / weights[a] - p[b] / weights[b]);
  const adjusted = new Array<number>(p.length).fill(1);
  let left = 1;
  let largest = 0;
  for (const k of order) {
    largest = Math.max(largest, Math.min(1, (p[k] * left) / weights[k]));
    adjusted[k] = largest;
    left -= weights[k];
  }
  return adjusted;
}

/** Members among `rows`, as positions in them. */
function placesOf(members: Uint8Array, rows: Int32Array): Int32Array {
  const places: number[] = [];
  rows.forEach((row, place) => {
    if (members[row] === 1) places.push(place);
  });
  return Int32Array.from(places);
}
