/**
 * What a sweep varies: a setting is a handful of train's options by name, and a sweep is every combination of the given
 * values, or one option at a time. An option that has no effect beside the others (κ under a numeric slack, hidden
 * units of a linear network) is left out, so that no two runs are the same. `slack=none` is the model without
 * constraints, the far end of every frontier. The time grid and the groups are not swept: scores on another grid or of
 * other groups cannot be compared.
 */
import { InputError } from "../../core/errors.ts";
import { namesOf } from "../../core/names.ts";
import { present } from "../../core/present.ts";
import {
  DISTANCES,
  type DistanceName,
  METHODS,
  type Method,
  NETWORKS,
  PRESETS,
  type PresetName,
} from "../../training/choices.ts";
import type { TrainingOptions } from "../../training/options.ts";
import type { TrainingRequest } from "../train-request.ts";

export type SettingValue = string | number;

/** Options that are not named keep train's defaults. */
export interface Setting {
  readonly method?: Method;
  readonly preset?: PresetName;
  readonly distance?: DistanceName;
  readonly strata?: number;
  readonly slack?: number | "auto" | "none";
  readonly kappa?: number | "none";
  readonly splines?: "auto" | "yes" | "no";
  readonly network?: NonNullable<TrainingRequest["network"]>;
  readonly hidden?: number;
  readonly steps?: number;
  readonly batch?: number;
  readonly rate?: number;
  readonly decay?: number;
}

export type SettingName = keyof Setting;

/** One option and the values it takes. */
export interface Sweep {
  readonly name: SettingName;
  readonly values: readonly SettingValue[];
}

interface SettingOption {
  readonly what: string;
  readonly read: (text: string) => SettingValue | null;
  readonly expected: string;
}

const oneOf = (what: string, choices: readonly string[]): SettingOption => ({
  what,
  read: (text) => (choices.includes(text) ? text : null),
  expected: `one of ${choices.join(", ")}`,
});
const whole = (what: string, least: number): SettingOption => ({
  what,
  read: (text) => (/^\d+$/.test(text) && Number(text) >= least ? Number(text) : null),
  expected: `a whole number, ${least} or more`,
});
const above0 = (what: string, words: readonly string[]): SettingOption => ({
  what,
  read: (text) => {
    if (words.includes(text)) return text;
    const value = text.trim() === "" ? Number.NaN : Number(text);
    return value > 0 && Number.isFinite(value) ? value : null;
  },
  expected: ["a number above 0", ...words].join(", or "),
});

/** Every option that can be swept; each can also be given one value for all runs. */
export const SETTING_OPTIONS: Readonly<Record<SettingName, SettingOption>> = {
  method: oneOf("what is fitted", namesOf(METHODS)),
  preset: oneOf("defaults", namesOf(PRESETS)),
  distance: oneOf("the constraint", namesOf(DISTANCES)),
  strata: whole("constrain each group in n strata of predicted risk", 1),
  slack: above0("the distance allowed to a group; none is no constraint", ["auto", "none"]),
  kappa: above0("the automatic slack in multiples of the group's noise; none is no constraint", ["none"]),
  splines: oneOf("splines of every number among the features; auto: where events are enough", [
    "auto",
    "yes",
    "no",
  ]),
  network: oneOf("the network", namesOf(NETWORKS)),
  hidden: whole("hidden units", 1),
  steps: whole("parameter updates", 1),
  batch: whole("rows a step; 0 is all of them", 0),
  rate: above0("learning rate", []),
  decay: above0("weight decay", []),
};

export const SETTING_NAMES = Object.keys(SETTING_OPTIONS) as readonly SettingName[];

/** As train spells the option: the constraint's field is `strata`; the option says of what. */
export function spellSetting(name: SettingName): string {
  return name === "strata" ? "risk-strata" : name;
}

/** The default without --sweep: from a slack that few models meet to no constraint at all. */
export const DEFAULT_SWEEP: Sweep = { name: "kappa", values: [0.25, 0.5, 1, 2, 4, "none"] };

const NOT_SWEPT = ["bins", "horizon", "split", "group", "groups", "autoGroups", "features", "drop"];

function checkName(name: string): asserts name is SettingName {
  if (!Object.hasOwn(SETTING_OPTIONS, name)) {
    const fixed = NOT_SWEPT.includes(name);
    throw new InputError(
      fixed ? `${name} is the same for all runs and cannot be swept` : `unknown option to sweep: "${name}"`,
      {
        code: "sweep.option",
        hint: fixed
          ? "scores on other time grids, rows, groups or columns do not compare: run tune once for each"
          : `can be swept: ${SETTING_NAMES.map(spellSetting).join(", ")} (and --seeds)`,
      },
    );
  }
}

export function readSettingValue(name: SettingName, text: string): SettingValue {
  const { read, expected } = SETTING_OPTIONS[name];
  const value = read(text.trim());
  if (value !== null) return value;
  throw new InputError(`invalid value for ${spellSetting(name)}: "${text}" (expected ${expected})`, {
    code: "sweep.value",
  });
}

/** "kappa=0.25,1,none" */
export function parseSweep(text: string): Sweep {
  const at = text.indexOf("=");
  if (at < 1 || text.slice(at + 1).trim() === "") {
    throw new InputError(`not a sweep: "${text}"`, {
      code: "sweep.form",
      hint: "write an option and its values, e.g. --sweep kappa=0.25,1,4",
    });
  }
  const spelt = text.slice(0, at).trim();
  const name: string = SETTING_NAMES.find((one) => spellSetting(one) === spelt) ?? spelt;
  checkName(name);
  const values = text
    .slice(at + 1)
    .split(",")
    .map((part) => readSettingValue(name, part));
  return { name, values: [...new Set(values)] };
}

export interface Expansion {
  readonly settings: readonly Setting[];
  /** Combinations that were left out because they repeat another run under another name. */
  readonly merged: number;
}

/**
 * `fixed` holds for all runs; a swept option takes its own values instead. "each": the fixed setting, then every option
 * varied by itself.
 */
export function expandSweep(
  sweeps: readonly Sweep[],
  fixed: Setting = {},
  how: "cross" | "each" = "cross",
): Expansion {
  const twice = sweeps.find(({ name }, k) => sweeps.findIndex((other) => other.name === name) < k);
  if (twice !== undefined) {
    throw new InputError(`swept twice: ${spellSetting(twice.name)}`, {
      code: "sweep.twice",
      hint: "put all its values into one --sweep",
    });
  }
  let all: Setting[];
  if (how === "cross") {
    all = [fixed];
    for (const { name, values } of sweeps) {
      all = all.flatMap((setting) => values.map((value) => ({ ...setting, [name]: value })));
    }
  } else {
    all = [
      fixed,
      ...sweeps.flatMap(({ name, values }) => values.map((value) => ({ ...fixed, [name]: value }))),
    ];
  }
  const distinct = new Map(all.map(reduceSetting).map((setting) => [JSON.stringify(setting), setting]));
  return { settings: [...distinct.values()], merged: all.length - distinct.size };
}

/** The setting without options that have no effect, in a fixed order. */
export function reduceSetting(setting: Setting): Setting {
  const left = new Map<string, SettingValue>(Object.entries(setting));
  const remove = (...names: SettingName[]) => {
    for (const name of names) left.delete(name);
  };
  if (left.get("kappa") === "none") {
    remove("kappa");
    left.set("slack", "none");
  }
  const method = left.get("method") ?? "graduate";
  if (method === "cox") return { method: "cox" };
  if (method !== "graduate") remove("slack", "kappa", "distance", "strata");
  if (left.get("slack") === "none") remove("kappa", "distance", "strata", "method");
  // κ multiplies an automatic slack; the variance distance is in standard errors already and takes no κ.
  if (typeof left.get("slack") === "number" || left.get("distance") === "variance") remove("kappa");
  if (left.has("kappa")) remove("slack");
  if (left.get("splines") === "auto") remove("splines");
  if (left.get("network") === "linear") remove("hidden");
  return Object.fromEntries(
    SETTING_NAMES.flatMap((name) => {
      const value = left.get(name);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

export function describeSetting(setting: Setting): string {
  const parts = Object.entries(setting).map(
    ([name, value]) => `${spellSetting(name as SettingName)}=${value}`,
  );
  return parts.length === 0 ? "defaults" : parts.join(" ");
}

/** Labels each setting by what distinguishes it; what all of them share is left out. */
export function labelSettings(settings: readonly Setting[]): readonly string[] {
  const shared = sharedSetting(settings);
  return settings.map((setting) => {
    const own = Object.fromEntries(Object.entries(setting).filter(([name]) => !Object.hasOwn(shared, name)));
    return settings.length === 1 ? describeSetting(setting) : describeSetting(own);
  });
}

/** The options that have the same value in every setting. */
export function sharedSetting(settings: readonly Setting[]): Setting {
  if (settings.length === 0) return {};
  const entries = Object.entries(settings[0]) as [SettingName, SettingValue][];
  return Object.fromEntries(
    entries.filter(([name, value]) => settings.every((setting) => setting[name] === value)),
  );
}

/** The request to train: the setting on top of what all runs share. */
export function requestOfSetting<Request extends TrainingRequest>(
  setting: Setting,
  common: Request,
  seed: number,
): Request {
  const { method, preset, distance, strata, slack, kappa } = setting;
  const { splines, network, hidden, steps, batch, rate, decay } = setting;
  const asked = splines === "auto" ? undefined : splines;
  const { optimiser } = PRESETS[preset ?? "default"];
  const isFree = slack === "none" || kappa === "none";
  // The validation rows are to choose among settings: none may have been solved on them.
  const { solve: usual } = PRESETS[preset ?? "default"];
  const solve = usual === "held" ? "heldOnTraining" : usual;
  const hasOwnRate = rate !== undefined || decay !== undefined;
  const options: Partial<TrainingOptions> = {
    ...present({ solve }),
    ...common.options,
    ...present({
      steps,
      batch: batch === 0 ? null : batch,
      optimiser: hasOwnRate ? { ...optimiser, ...present({ rate, decay }) } : undefined,
    }),
  };
  return {
    ...common,
    method: isFree ? "nll" : (method ?? "graduate"),
    preset: preset ?? "default",
    constraint: present({
      distance,
      strata,
      slack: isFree ? undefined : kappa === undefined ? slack : ("auto" as const),
      kappa: isFree ? undefined : kappa,
    }),
    ...present({ splines: asked === undefined ? undefined : asked === "yes", network, hidden }),
    options,
    seed,
  };
}
