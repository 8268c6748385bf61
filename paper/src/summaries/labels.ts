/** The names of systems and scores on the pages. */

import type { SystemName } from "../runs/plan.ts";
import type { Metric } from "./published.ts";

export const SYSTEM_LABELS: Readonly<Record<SystemName, string>> = {
  cox: "Cox",
  "cox with group terms": "Cox with group terms",
  drsa: "DRSA",
  "drsa kept by loss": "DRSA, kept by loss",
  "drsa without tail": "DRSA without tail",
  "drsa without tail kept by concordance": "DRSA without tail, kept by C",
  xcal: "X-Cal",
  "xcal kept by loss": "X-Cal, kept by loss",
  mcboost: "MCBoostSurv (mended)",
  "mcboost reference": "MCBoostSurv (reference)",
  rps: "RPS",
  "rps kept by loss": "RPS, kept by loss",
  "drsa kept by constraints": "DRSA, kept by constraints",
  "drsa without tail kept by constraints": "DRSA without tail, kept by constraints",
  "graduate l2": "GRADUATE (L²)",
  "graduate l2 kept by concordance": "GRADUATE (L²), kept by C",
  "graduate l2 without tail": "GRADUATE (L²) without tail",
  "graduate l2 without tail kept by concordance": "GRADUATE (L²) without tail, kept by C",
  "graduate variance": "GRADUATE (variance)",
  graduate: "GRADUATE (default of 0.1.0, without the solve)",
  "five graduates": "*five graduates*",
  "graduate with splines": "*graduate with splines*",
  "five with splines": "*five with splines*",
  "cox of all rows": "*Cox, validation rows too*",
  "placebo groups": "*placebo groups*",
  "all only": "*all only*",
  "no multipliers": "*no multipliers*",
  generator: "*generator*",
};

export const METRIC_NAMES: Readonly<Record<Metric, string>> = {
  concordance: "C-index",
  logrank: "logrank",
  ece: "ECE",
  total: "total",
};
