/**
 * The peers of the study of competing causes: models of R and Python, each run by a script of paper/peers on files.
 * learn.csv has time, cause (0 = censored), entry where people come late, and the features; people.csv the features of
 * those to predict; times.csv the times. The script leaves F.csv: a row a person, the incidences at every time, cause
 * after cause.
 */
import { InputError } from "graduate-survival/core";
import type { Outcomes, Table } from "graduate-survival/data";
import { formatNumbers, formatRows, readMatrix, runScript } from "../studies/peer-files.ts";
import type { CauseSystem } from "./plan.ts";

/** The programs that run the scripts. */
export interface PeerPrograms {
  readonly rscript: string;
  readonly python: string;
}

export interface PeerRequest {
  /** With columns for groups, where the system takes them. */
  readonly table: Table;
  readonly people: Table;
  readonly outcomes: Outcomes;
  /** Rows to learn from. */
  readonly learn: Int32Array;
  /** Rows of `people` to predict; all unless given. */
  readonly predict?: Int32Array;
  readonly features: readonly string[];
  readonly times: Float64Array;
  readonly K: number;
  readonly seed: number;
}

/** Fits a peer and predicts F_k(t|x). */
export function runPeer(system: CauseSystem, request: PeerRequest, programs: PeerPrograms): Float64Array {
  const text = runScript({
    name: system,
    ...commandOf(system, request.seed, programs),
    files: filesOf(request),
    leaves: "F.csv",
  });
  const people = request.predict?.length ?? request.people.rows;
  return readIncidences(text, people, request.K * request.times.length);
}

function commandOf(system: CauseSystem, seed: number, { rscript, python }: PeerPrograms) {
  const ofR = (method: string) => ({
    program: rscript,
    script: "causes.R",
    argumentsOf: (folder: string) => [method, folder],
  });
  switch (system) {
    case "cox":
    case "cox with group terms":
      return ofR("cox");
    case "fine-gray":
      return ofR("fine-gray");
    case "survivalboost":
    case "forest":
      return {
        program: python,
        script: "causes.py",
        argumentsOf: (folder: string) => [system, folder, String(seed)],
      };
    default:
      throw new InputError(`not a peer: ${system}`, { code: "peer.name" });
  }
}

function filesOf(request: PeerRequest): Record<string, string> {
  const { table, people, outcomes, learn, predict, features, times } = request;
  const { time, cause, entry } = outcomes;
  const observed = (row: number) => [
    time[row],
    cause?.[row] ?? 0,
    ...(entry === undefined ? [] : [entry[row]]),
  ];
  const names = ["time", "cause", ...(entry === undefined ? [] : ["entry"])];
  const everyone = predict ?? Int32Array.from({ length: people.rows }, (_, row) => row);
  return {
    "learn.csv": formatRows(table, features, learn, { names, cells: observed }),
    "people.csv": formatRows(people, features, everyone),
    "times.csv": formatNumbers(times),
  };
}

/** Refuses a file with another number of people or values. */
export function readIncidences(text: string, people: number, width: number): Float64Array {
  return readMatrix(text, people, width, "incidences");
}
