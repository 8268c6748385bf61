// Writes people.csv, curves.csv and others beside itself: 120 people whose hazard rises with age and doubles in stage 3, and curves in
// eight bins of one year from somebody who knew their ages only. `node test/golden/tables/make-tables.js`
import { writeFileSync } from "node:fs";

let state = 20240517;
/** Park and Miller's generator: uniform in (0, 1). */
function draw() {
  state = (state * 48271) % 2147483647;
  return state / 2147483647;
}

const BINS = 8;
const people = Array.from({ length: 120 }, () => {
  const age = 40 + Math.floor(40 * draw());
  const sex = draw() < 0.5 ? "F" : "M";
  const stage = 1 + Math.floor(3 * draw());
  const hazard = 0.1 * Math.exp((age - 60) / 25) * (stage === 3 ? 2 : 1);
  const own = -Math.log(draw()) / hazard;
  const censored = 2 + 8 * draw();
  const time = Math.min(own, censored, BINS - 0.01);
  return { time, event: own <= Math.min(censored, BINS - 0.01) ? 1 : 0, age, sex, stage };
});

function write(name, header, lines) {
  writeFileSync(new URL(name, import.meta.url), `${[header, ...lines].join("\n")}\n`);
}

write(
  "people.csv",
  "time,event,age,sex,stage",
  people.map(({ time, event, age, sex, stage }) => [time.toFixed(2), event, age, sex, stage].join(",")),
);
write(
  "curves.csv",
  `sex,stage,bin,event,${Array.from({ length: BINS }, (_, t) => `S${t + 1}`)}`,
  people.map(({ time, event, age, sex, stage }) => {
    const yearly = Math.exp(-0.11 * Math.exp((age - 60) / 25));
    const curve = Array.from({ length: BINS }, (_, t) => (yearly ** (t + 1)).toFixed(4));
    return [sex, stage, Math.min(BINS, Math.max(1, Math.ceil(time))), event, ...curve].join(",");
  }),
);

/** Where the draws of the tables below begin, so that none depends on the others. */
const begin = state;

// causes.csv, relapse.csv and death.csv: 300 people who may relapse or die first, and their incidences by somebody who did
// not know that stage 3 relapses twice as fast.
const RELAPSE = 0.07;
const DEATH = 0.05;
const patients = Array.from({ length: 300 }, () => {
  const age = 40 + Math.floor(40 * draw());
  const stage = 1 + Math.floor(3 * draw());
  const relapse = RELAPSE * (stage === 3 ? 2.5 : 1);
  const death = DEATH * Math.exp((age - 60) / 20);
  const first = -Math.log(draw()) / (relapse + death);
  const censored = 3 + 9 * draw();
  const status = first > censored ? "lost" : draw() < relapse / (relapse + death) ? "relapse" : "death";
  return { time: Math.min(first, censored), status, age, stage, death };
});

write(
  "causes.csv",
  "years,status,age,stage",
  patients.map(({ time, status, age, stage }) => [time.toFixed(2), status, age, stage].join(",")),
);
for (const cause of ["relapse", "death"]) {
  write(
    `${cause}.csv`,
    Array.from({ length: BINS }, (_, t) => `F(${t + 1})`).join(","),
    patients.map(({ death }) => {
      const rate = RELAPSE + death;
      const share = (cause === "relapse" ? RELAPSE : death) / rate;
      return Array.from({ length: BINS }, (_, t) =>
        (share * (1 - Math.exp(-rate * (t + 1)))).toFixed(4),
      ).join(",");
    }),
  );
}

// People of the same kind who came under observation late, with weights: those whose event came first are not seen.
state = begin;
const late = [];
while (late.length < 160) {
  const age = 40 + Math.floor(40 * draw());
  const sex = draw() < 0.5 ? "F" : "M";
  const hazard = 0.2 * Math.exp((age - 60) / 25);
  const own = -Math.log(draw()) / hazard;
  const entry = 3 * draw();
  const censored = entry + 2 + 6 * draw();
  const weight = 0.5 + draw();
  if (own <= entry + 0.05) continue;
  const time = Math.min(own, censored, BINS - 0.01);
  late.push({ entry, time, event: own <= Math.min(censored, BINS - 0.01) ? 1 : 0, age, sex, weight });
}
write(
  "late.csv",
  "entry,time,event,age,sex,weight",
  late.map(({ entry, time, event, age, sex, weight }) =>
    [entry.toFixed(2), time.toFixed(2), event, age, sex, weight.toFixed(3)].join(","),
  ),
);
