/** What was solved cause by cause as one model: its layers, its verdict on every group and cause, its report. */
import { joinCauseParameters } from "../../../models/networks/cause-view.ts";
import { baseParameter, type HeldSpec } from "../../../models/networks/held.ts";
import type { ParameterValues } from "../../../models/networks/parameters.ts";
import { nameCell } from "../../../objectives/causes/cause-rows.ts";
import type { HeldFit, HoldChoices, HoldInput, SolveReport } from "../hold.ts";
import type { SolvedLayer } from "../layer.ts";
import { dropLstm } from "../mixture.ts";
import { adjustFresh, type GroupVerdict } from "../verdict.ts";

/** One held network of all causes. */
export function joinHeld(
  spec: HoldInput["spec"],
  fits: readonly HeldFit[],
  choices: readonly HoldChoices[],
): SolvedLayer {
  const base = joinBase(spec, choices);
  const chances = fits.reduce((sum, { spec: { chances: own } }) => sum + own, 0);
  const { D, T, blocks } = fits[0].spec;
  const own = ofLayers(fits, { D, B: blocks.length, chances });
  const held: HeldSpec = {
    kind: "held",
    D,
    T,
    causes: fits.length,
    base: base.spec,
    blocks,
    chances,
  };
  const below = Object.entries(base.parameters).map(([name, values]) => [baseParameter(name), values]);
  return { spec: held, parameters: { ...Object.fromEntries(below), ...own } };
}

/** The network below; without its LSTM where no cause has use for it. */
function joinBase(spec: HoldInput["spec"], choices: readonly HoldChoices[]) {
  if (spec.kind === "mean") return { spec, parameters: choices[0].parameters };
  const parameters = joinCauseParameters(
    spec,
    choices.map((one) => one.parameters),
  );
  const isUnused = choices.every(({ mixture }) => mixture?.share === 0);
  return isUnused && spec.kind === "anchored" ? dropLstm(spec, parameters) : { spec, parameters };
}

/** The layers' parameters, cause by cause; each cause has its own chances of membership, and 0 for the others'. */
function ofLayers(
  fits: readonly HeldFit[],
  { D, B, chances }: { readonly D: number; readonly B: number; readonly chances: number },
): ParameterValues {
  let before = 0;
  const coefficients = fits.flatMap(({ spec, parameters }) => {
    const own = parameters["held.coefficients"];
    const whole = new Array<number>((D + chances) * B).fill(0);
    for (let k = 0; k < D * B; k++) whole[k] = own[k];
    for (let k = D * B; k < own.length; k++) whole[k + before * B] = own[k];
    before += spec.chances;
    return whole;
  });
  return {
    "held.baseline": fits.flatMap(({ parameters }) => parameters["held.baseline"]),
    "held.coefficients": coefficients,
    ...(chances > 0 && {
      "held.membership": fits.flatMap(({ parameters }) => parameters["held.membership"] ?? []),
    }),
  };
}

/** Group by group, cause by cause; tests are adjusted among all of them. */
export function joinVerdicts(causes: readonly string[], fits: readonly HeldFit[]): GroupVerdict[] {
  const joined = fits[0].verdict.flatMap((_, g) =>
    fits.map(({ verdict }, k) => ({ ...verdict[g], group: nameCell(verdict[g].group, causes[k]) })),
  );
  return adjustFresh(joined);
}

/** `moved`: how far the last turn still moved a distance; 0 where the causes have settled. */
export function joinReports(causes: readonly string[], fits: readonly HeldFit[], moved: number): SolveReport {
  const reports = fits.map(({ solve }) => solve);
  const worst = (read: (report: SolveReport) => number) => Math.max(...reports.map(read));
  return {
    ...reports[0],
    iterations: reports.reduce((sum, { iterations }) => sum + iterations, 0),
    residuals: {
      stationarity: worst(({ residuals }) => residuals.stationarity),
      violation: Math.max(
        moved,
        worst(({ residuals }) => residuals.violation),
      ),
      complementarity: worst(({ residuals }) => residuals.complementarity),
    },
    mixture: null,
    blind: reports.flatMap(({ blind }, k) =>
      blind.map((one) => ({ ...one, group: nameCell(one.group, causes[k]) })),
    ),
    causes: reports.map(({ mixture, iterations }, k) => ({ cause: causes[k], mixture, iterations })),
  };
}
