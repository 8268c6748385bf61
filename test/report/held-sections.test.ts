// What a report says of groups that are held and not told, of curves from outside, and of which model was kept.
import { parseHTML } from "linkedom";
import { beforeAll, describe, expect, test } from "vitest";
import { gatherReport } from "../../src/report/data/gather-report.ts";
import type { ReportData } from "../../src/report/data/report-data.ts";
import { renderReport } from "../../src/report/page/render-report.ts";
import type { BlindReport, SolveReport } from "../../src/training/solve/hold.ts";
import type { GroupVerdict } from "../../src/training/solve/verdict.ts";
import { HOSTILE, makeInput } from "./report-input.ts";

let data: ReportData;

beforeAll(async () => {
  data = gatherReport(await makeInput({ draws: 0, replicates: 0 }, 6));
});

/** The page where the solve, or the verdicts, are as given. */
function draw(
  change: (solve: SolveReport) => Partial<SolveReport> | null,
  shown: Partial<ReportData> = {},
  constraints?: readonly GroupVerdict[],
) {
  const { training } = data;
  if (!training?.solve) throw new Error("no solve");
  const changed = change(training.solve);
  const solve = changed === null ? null : { ...training.solve, ...changed };
  const whole = { ...training, solve, ...(constraints && { constraints }) };
  const page = renderReport(
    { ...data, ...shown, training: whole },
    { document: parseHTML("<html></html>").document },
  );
  const { document } = parseHTML(page);
  const textOf = (id: string) =>
    document.querySelector(`section[aria-labelledby=${id}]`)?.textContent?.replace(/\s+/g, " ") ?? null;
  return { document, textOf };
}

describe("the price of holding", () => {
  test("is one sentence from the numbers, with plots and a table of the frontier", () => {
    const { document, textOf } = draw(() => ({}));
    expect(textOf("price")).toContain(
      `The model never sees who is in ${HOSTILE[1]}. Its other columns tell membership with an area under the curve ` +
        "of 0.86 (0.5 is chance). Holding the group cut its distance from 3.6 to 0.44 and cost everyone 0.004 of C-index.",
    );
    expect(textOf("price")).toContain(`strongest first: ${HOSTILE[0]} (+1.25), age (−0.50).`);
    expect(textOf("price")).toContain("may cost 5 % of the log-likelihood");
    expect(textOf("price")).toContain("on the validation rows, here 1.8 nats (--hold balanced)");
    const card = document.querySelector("section[aria-labelledby=price] .card");
    expect(card?.querySelectorAll("svg")).toHaveLength(3);
    const rows = [...(card?.querySelectorAll("tbody tr") ?? [])].map((row) =>
      [...row.querySelectorAll("td")].map((cell) => cell.textContent),
    );
    expect(rows).toHaveLength(5);
    expect(rows[0]).toEqual(["3.600", "0.6780", "0.1040", "0.620", "0"]);
    expect(rows[4]).toEqual(["0.441", "0.6740", "0.1060", "0.660", "1.60"]);
    expect(document.querySelector("nav")?.textContent).toContain("The price of holding");
  });

  test("says why a group is left alone", () => {
    expect(draw(() => ({})).textOf("price")).toContain(
      "an area under the curve of 0.57 (0.5 is chance). That is too little to go by",
    );
    const alone = (blind: BlindReport): BlindReport => ({ ...blind, frontier: blind.frontier.slice(0, 1) });
    const { textOf } = draw(({ blind }) => ({ hold: "free", blind: blind.map(alone) }));
    expect(textOf("price")).toContain("The budget was 0");
    expect(textOf("price")).toContain("the group is left at a distance of 3.6.");
  });

  test("says who pays with whom, and what C cannot say", () => {
    const twice = draw(({ blind }) => ({ blind: [blind[0], { ...blind[0], group: "other" }] }));
    expect(twice.textOf("price")).toContain("Holding the group together with 1 other group cut its distance");
    const without = draw(({ blind }) => ({
      blind: blind.map((one) => ({
        ...one,
        budget: null,
        frontier: one.frontier.map((point) => ({ ...point, concordance: null, others: null })),
      })),
    }));
    expect(without.textOf("price")).toContain("cost everyone 1.6 nats of log-likelihood.");
    expect(without.textOf("price")).toContain("A slack was named for them");
    expect(without.document.querySelectorAll("section[aria-labelledby=price] svg")).toHaveLength(1);
    const better = draw(({ blind }) => ({
      blind: blind.map((one) => ({ ...one, frontier: one.frontier.toReversed() })),
    }));
    expect(better.textOf("price")).toContain("raised the C-index by 0.004.");
  });

  test("hides small counts of a group that the rows say too little of", () => {
    const [first, ...rest] = data.training?.constraints ?? [];
    const few = (reason: string, status: GroupVerdict["status"]): readonly GroupVerdict[] => [
      { ...first, told: false, events: 3, status, reason },
      ...rest,
    ];
    const own = few("3 events, fewer than 10", "unsupported");
    expect(draw(() => ({}), {}, own).textOf("price")).toContain(
      "It is not held: under 5 events, fewer than 10.",
    );
    const among = few(
      "the model may not see who is in it, and among the training rows 2 events, fewer than 10",
      "infeasible",
    );
    expect(draw(() => ({}), {}, among).textOf("price")).toContain(
      "among the training rows under 5 events, fewer",
    );
    expect(draw(() => ({}), { hidesSmallCells: false }, among).textOf("price")).toContain(
      "rows 2 events, fewer",
    );
  });

  test("is left out where no group is held without being told", () => {
    expect(draw(() => ({ blind: [] })).textOf("price")).toBeNull();
    expect(draw(() => null).textOf("price")).toBeNull();
  });
});

describe("held to outside curves", () => {
  test("shows local curve, target and model at the target's times, in the unit of the page", () => {
    const { document, textOf } = draw(() => ({}));
    const [first] = document.querySelectorAll("section[aria-labelledby=targets] .card");
    const cells = [...first.querySelectorAll("tbody tr")].map((row) =>
      [...row.querySelectorAll("th, td")].map((cell) => cell.textContent),
    );
    expect(cells[0]).toEqual(["2.74 years", "0.890", "0.900", "0.880 – 0.920", "0.895"]);
    expect(cells[2]).toEqual(["13.7 years", "–", "0.840", "0.801 – 0.879", "0.835"]);
    expect(first.querySelectorAll("svg")).toHaveLength(1);
    expect(textOf("targets")).toContain("the group had 62 events, and the target expects 55.3.");
    expect(textOf("targets")).toContain("0.370 (0.740 with all targets considered)");
  });

  test("hides a small count, and what it would follow from", () => {
    const { textOf } = draw(() => ({}));
    expect(textOf("targets")).toContain("had under 5 events; its local curve, which would");
    expect(textOf("targets")).toContain("is at least 0.05.");
    expect(textOf("targets")).not.toContain("1.8");
    expect(textOf("targets")).not.toContain("0.920 0.950");
    expect(draw(() => ({}), { hidesSmallCells: false }).textOf("targets")).toContain(
      "had 3 events, and the target",
    );
  });

  test("is left out without targets", () => {
    expect(draw(() => ({ targets: [] })).textOf("targets")).toBeNull();
  });
});

describe("which model was kept", () => {
  const kept = (share: number) =>
    draw(({ mixture }) => ({ mixture: mixture && { ...mixture, share } })).textOf("training");

  test.each([
    [
      0.5,
      "the weights kept are those of step 800. A mixture (0.50 of training) was kept over the additive start",
    ],
    [1, "the weights kept are those of step 800. The trained network was kept over the additive start"],
    [0, "1000 steps. The additive start was kept"],
  ])("a share of %s is said", (share, said) => {
    expect(kept(share)).toContain(said);
  });
});
