// The commands whose writes are made to fail, on a table so small that each takes a fraction of a second. `outputs` are the files each
// writes; `lines` are those that grow line by line; `mayLeave` are those that only a run that fails leaves, to go on from. `{name}` is
// a file of the command's own folder.

const OUTCOME = "--time time --event event";
// One step, so one checkpoint: how many there are of several depends on the clock.
const TRAINING = `${OUTCOME} --steps 1 --bins 6 --hidden 2 --threads 1 --draws 0 --replicates 0 --group arm=a`;

/** People in two groups, drawn by a formula. */
export function makeTable(people) {
  const rows = Array.from({ length: people }, (_, i) => {
    const age = 40 + ((i * 37) % 41);
    const time = 1 + ((i * 61) % 47) / 2 + (i % 2);
    return `${time},${(i * 7) % 10 < 6 ? 1 : 0},${age},${i % 2 === 0 ? "a" : "b"}`;
  });
  return `time,event,age,arm\n${rows.join("\n")}\n`;
}

/** The same people with weights, two causes and curves at two times, as a table and as files of curves beside it. */
export function makeWeighed(people) {
  const rows = makeTable(people).trimEnd().split("\n").slice(1);
  const table = rows.map((row, i) => `${row},${1 + (i % 3)},${i % 10 < 6 ? 1 + (i % 2) : 0},0.6,0.2`);
  return `time,event,age,arm,weight,cause,S(12),S(25)\n${table.join("\n")}\n`;
}

/** Incidences at the same times, of either cause. */
export const makeIncidence = (people) => `F(12),F(25)\n${"0.2,0.4\n".repeat(people)}`;

export const PLAN = {
  name: "tiny",
  about: "One small run.",
  preset: "default",
  repeats: "splits",
  draws: 0,
  bins: 10,
  steps: 2,
  cohorts: [
    {
      name: "nwtco",
      kind: "table",
      table: "datasets/nwtco/nwtco.csv",
      groups: "datasets/nwtco/groups.json",
      time: "edrel",
      event: "rel",
      drop: ["seqno"],
      sizes: [2416, 806, 806],
      paperSlack: 0.02,
    },
  ],
  parts: [{ cohorts: ["nwtco"], systems: ["cox"], seeds: { from: 1, count: 1 } }],
};

const FILES = [
  {
    name: "train",
    line: `train {table.csv} ${TRAINING} --out {new.model} --checkpoint {run.checkpoint} --report {page.html}`,
    outputs: ["new.model", "run.checkpoint", "page.html"],
  },
  {
    name: "train a shard",
    line: `train {table.csv} ${TRAINING} --ensemble 2 --shard 1/2 --out {new.model}`,
    outputs: ["new.model.1-of-2"],
    mayLeave: ["new.model.1-of-2.checkpoint"],
  },
  {
    name: "predict",
    line: "predict {given.model} {table.csv} --out {curves.csv}",
    outputs: ["curves.csv"],
  },
  {
    name: "predict to Parquet",
    line: "predict {given.model} {table.csv} --out {curves.parquet}",
    outputs: ["curves.parquet"],
  },
  {
    name: "predict for people",
    line: "predict {given.model} {table.csv} --at 1 --out {people.csv}",
    outputs: ["people.csv"],
  },
  {
    name: "predict for people to Parquet",
    line: "predict {given.model} {table.csv} --long --out {people.parquet}",
    outputs: ["people.parquet"],
  },
  { name: "predict to standard output", line: "predict {given.model} {table.csv}" },
  {
    name: "tune",
    line:
      `tune {table.csv} ${OUTCOME} --bins 6 --hidden 2 --steps 2 --sweep rate=0.01,0.02 --workers 1 ` +
      "--results {runs.jsonl} --plot {plot.svg} --out {tuned.model}",
    outputs: ["plot.svg", "tuned.model"],
    lines: ["runs.jsonl"],
  },
  {
    name: "explain with a card",
    line: "explain {given.model} {table.csv} --row 2 --card {card.html}",
    outputs: ["card.html"],
  },
  {
    name: "audit with a report",
    line: "audit {given.model} {table.csv} --draws 0 --replicates 0 --report {page.html}",
    outputs: ["page.html"],
  },
  {
    name: "compare",
    line: `compare {table.csv} ${OUTCOME} --bins 6 --methods cox,nll --steps 2 --replicates 100 --json`,
  },
  {
    name: "boost",
    line: "boost {given.model} {others.csv} --out {curves.csv} --save {repair.json}",
    outputs: ["curves.csv", "repair.json"],
  },
  {
    name: "boost with weights",
    line: `boost --curves {weighed.csv} ${OUTCOME} --weights weight --out {curves.csv}`,
    outputs: ["curves.csv"],
  },
  {
    name: "boost by cause",
    line:
      "boost {weighed.csv} --time time --event cause --causes 1=a,2=b --curves a={incidence.csv} " +
      "--curves b={incidence.csv} --out a={a.csv},b={b.parquet}",
    outputs: ["a.csv", "b.parquet"],
  },
  {
    name: "km with a plot",
    line: `km {table.csv} ${OUTCOME} --by arm --svg {plot.svg}`,
    outputs: ["plot.svg"],
  },
  {
    name: "cif with a plot",
    line: "cif {table.csv} --time time --event event --causes 1 --by arm --plot {plot.svg}",
    outputs: ["plot.svg"],
  },
  { name: "export", line: "export {given.model} --onnx {net.onnx}", outputs: ["net.onnx"] },
  {
    name: "reproduce",
    line: "reproduce plan {plan.json} --out {results.jsonl} --workers 1",
    lines: ["results.jsonl"],
  },
];

export const COMMANDS = FILES.map(({ line, outputs = [], lines = [], mayLeave = [], ...rest }) => ({
  ...rest,
  args: line.split(" "),
  outputs,
  lines,
  mayLeave,
}));
