// The laws of the study of bands give the curves that their people follow, and its page is made from its lines.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { relapseFree, simulateClinics } from "../../src/bands/clinic-law.ts";
import { graftWorks, simulateGrafts } from "../../src/bands/graft-law.ts";
import { keptUp, simulateLoans } from "../../src/bands/loan-law.ts";
import { simulateMembers, stillMember } from "../../src/bands/member-law.ts";
import { simulateSeekers, stillSeeking } from "../../src/bands/seeker-law.ts";
import { alive, simulateValves } from "../../src/bands/valve-law.ts";
import { simulateWards, stillAway } from "../../src/bands/ward-law.ts";
import { committedLines, STUDY_PAGES } from "../../src/commands/studies.ts";
import { type BandLine, expandBandsPlan, readBandsPlan } from "../../src/studies/bands.ts";
import { readLines } from "../../src/studies/lines.ts";

/** Observed share beyond each time less the mean of the true curves, in standard errors. */
function gaps<Person>(
  people: readonly Person[],
  eventTime: Float64Array,
  times: readonly number[],
  curveOf: (person: Person, times: readonly number[]) => Float64Array,
): number[] {
  const n = people.length;
  const curves = people.map((one) => curveOf(one, times));
  return times.map((time, k) => {
    const wanted = curves.reduce((sum, curve) => sum + curve[k], 0) / n;
    const seen = eventTime.filter((own) => own > time).length / n;
    return (seen - wanted) / Math.sqrt((wanted * (1 - wanted)) / n);
  });
}

describe("the laws", () => {
  test("as many are free of the event as their true curves say, and as many are censored as the laws mean", () => {
    const clinics = simulateClinics(6000, 5);
    const wards = simulateWards(6000, 5);
    const grafts = simulateGrafts(6000, 5);
    const loans = simulateLoans(6000, 5);
    const seekers = simulateSeekers(6000, 5);
    const valves = simulateValves(6000, 5);
    const members = simulateMembers(6000, 5);
    const off = [
      ...gaps(clinics.people, clinics.eventTime, [3, 12, 13.5, 30, 59], relapseFree),
      ...gaps(wards.people, wards.eventTime, [20, 100, 365, 700], stillAway),
      ...gaps(grafts.people, grafts.eventTime, [2, 12, 24.5, 60, 119], graftWorks),
      ...gaps(loans.people, loans.eventTime, [3, 12, 18.5, 24, 36, 59], keptUp),
      ...gaps(seekers.people, seekers.eventTime, [2, 5, 12.5, 24, 35], stillSeeking),
      ...gaps(valves.people, valves.eventTime, [0.5, 3, 12, 30.5, 59], alive),
      ...gaps(members.people, members.eventTime, [2, 6, 11.5, 13, 24, 35], stillMember),
    ];
    for (const gap of off) expect(Math.abs(gap)).toBeLessThan(3);
    const seen = ({ text }: { readonly text: string }) =>
      text.split("\n").filter((line) => line.split(",")[1] === "1").length / 6000;
    for (const law of [clinics, wards]) {
      expect(seen(law)).toBeGreaterThan(0.1);
      expect(seen(law)).toBeLessThan(0.3);
    }
    expect(seen(grafts)).toBeGreaterThan(0.4);
    expect(seen(loans)).toBeGreaterThan(0.25);
    expect(seen(loans)).toBeLessThan(0.35);
    expect(seen(seekers)).toBeGreaterThan(0.6);
    for (const law of [valves, members]) {
      expect(seen(law)).toBeGreaterThan(0.3);
      expect(seen(law)).toBeLessThan(0.6);
    }
    expect(simulateWards(50, 9).text).toBe(simulateWards(50, 9).text);
  });
});

test("docs/results/bands.md is made from paper/bands.jsonl, whose lines are all of the plan", () => {
  const page = readFileSync(new URL("../../../docs/results/bands.md", import.meta.url), "utf8");
  expect(STUDY_PAGES.bands(committedLines("bands"))).toBe(page);
  const planned = expandBandsPlan(readBandsPlan());
  const lines = readLines<BandLine>(committedLines("bands"));
  for (const { law, rows, seed, system } of lines) {
    const isPlanned = planned.some(
      (run) => run.law === law && run.rows === rows && run.seed === seed && run.system === system,
    );
    expect(isPlanned, `${law} ${rows} ${seed} ${system}`).toBe(true);
    expect(seed).toBeGreaterThan(4000);
  }
});
