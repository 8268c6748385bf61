/** The sixth step: curves that another program predicted, and the same report of them. */
import { useState } from "preact/hooks";
import type { CurvesRequest, CurvesView, Trouble } from "../protocol.ts";
import type { StepProps } from "./app.tsx";
import { Refusal } from "./client.ts";
import { count, Field, FileDrop, Select, TroubleCard } from "./controls.tsx";
import { save } from "./studio.ts";
import { AuditIncidences } from "./audit-incidences.tsx";
import { ReportFrame } from "./verdict-step.tsx";

const TEMPLATE = `time,event,sex,S(90),S(180),S(365)
120,1,F,0.98,0.94,0.88
365,0,M,0.99,0.97,0.93
`;

const RECIPES = [
  {
    name: "R",
    code: `S <- t(summary(survfit(fit, newdata = people), times = times)$surv)
colnames(S) <- paste0("S(", times, ")")
write.csv(cbind(people, S), "curves.csv", row.names = FALSE)`,
  },
  {
    name: "Python",
    code: `S = fit.predict_survival_function(people, times=times).T  # lifelines
S.columns = [f"S({t})" for t in times]
pd.concat([people, S], axis=1).to_csv("curves.csv", index=False)`,
  },
] as const;

const ACCEPT = ".csv,.tsv,.gz,.parquet,.pq";

export function AuditStep({ studio, actions }: StepProps) {
  const [curves, setCurves] = useState<CurvesView | null>(null);
  const [request, setRequest] = useState<CurvesRequest | null>(null);
  const [report, setReport] = useState<string | null>(null);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const [isBusy, setBusy] = useState(false);
  const attempt = async <Answer,>(work: () => Promise<Answer>, use: (answer: Answer) => void) => {
    setTrouble(null);
    setBusy(true);
    try {
      use(await work());
    } catch (error) {
      setTrouble(error instanceof Refusal ? error.trouble : { message: String(error) });
    }
    setBusy(false);
    actions.rest();
  };
  const open = (file: File) => {
    // What is shown is of the file before.
    setCurves(null);
    setReport(null);
    void attempt(
      () => actions.desk.openCurves(file),
      (view) => {
        setCurves(view);
        setRequest(view.guess);
      },
    );
  };
  return (
    <>
      <h1>Audit another model</h1>
      <p class="lead">
        Any program’s survival curves, of people it was not fitted on, get the same report: how far off for
        everyone and for every group, how much of that is chance, and how far off they could still be.
      </p>
      <FileDrop label="Curves" accept={ACCEPT} onFile={open}>
        <strong>Drop predicted curves here</strong>
        <span>one row a person: time, event, columns that make groups, and S(90), S(180), …</span>
      </FileDrop>
      <AuditIncidences
        studio={studio}
        isBusy={isBusy}
        onAudit={(asked) =>
          void attempt(
            () => actions.desk.auditIncidences(studio.choices, asked),
            (page) => {
              setCurves(null);
              setReport(page);
            },
          )
        }
      />
      {trouble !== null && <TroubleCard trouble={trouble} />}
      {curves !== null && request !== null && (
        <CurvesForm
          curves={curves}
          request={request}
          isBusy={isBusy}
          onChange={setRequest}
          onAudit={() => void attempt(() => actions.desk.auditCurves(request), setReport)}
        />
      )}
      {report !== null && (
        <>
          <div class="downloads">
            <button type="button" class="primary" onClick={() => save(reportFile(report))}>
              Download report
            </button>
          </div>
          <ReportFrame report={report} />
        </>
      )}
      <section class="card">
        <h2>How to write them</h2>
        <p class="hint">
          Three lines write the file where <code>fit</code> is the model, <code>people</code> have time, event
          and what makes groups, and <code>times</code> are evenly spaced.
        </p>
        <div class="recipes">
          {RECIPES.map(({ name, code }) => (
            <div key={name}>
              <h3>{name}</h3>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
              <pre tabIndex={0}>
                <code>{code}</code>
              </pre>
            </div>
          ))}
        </div>
        <button
          type="button"
          onClick={() =>
            save({ name: "curves-template.csv", type: "text/csv", bytes: new TextEncoder().encode(TEMPLATE) })
          }
        >
          Download a template
        </button>
      </section>
    </>
  );
}

function reportFile(report: string) {
  return { name: "report.html", type: "text/html", bytes: new TextEncoder().encode(report) };
}

interface FormProps {
  readonly curves: CurvesView;
  readonly request: CurvesRequest;
  readonly isBusy: boolean;
  readonly onChange: (request: CurvesRequest) => void;
  readonly onAudit: () => void;
}

function CurvesForm({ curves, request, isBusy, onChange, onAudit }: FormProps) {
  const { time, event, horizon, by, unit } = request;
  const names = [
    { value: "", text: "by its usual name" },
    ...curves.columns.map((name) => ({ value: name, text: name })),
  ];
  const others = curves.columns.filter((name) => name !== time && name !== event);
  return (
    <section class="card">
      <h2>
        <bdi>{curves.name}</bdi>
      </h2>
      <p class="hint">{count(curves.rows)} people</p>
      <div class="fields">
        <Select
          label="Time"
          value={time}
          options={names}
          onChange={(value) => onChange({ ...request, time: value })}
        />
        <Select
          label="Event"
          value={event}
          options={names}
          onChange={(value) => onChange({ ...request, event: value })}
        />
        <Field
          label="Unit"
          value={unit}
          placeholder="days"
          onInput={(value) => onChange({ ...request, unit: value.trim() })}
        />
        <Field
          label="Horizon"
          type="number"
          value={horizon}
          placeholder="only for columns S1, S2, …"
          onInput={(value) => onChange({ ...request, horizon: value })}
        />
      </div>
      {others.length > 0 && (
        <fieldset class="chips">
          <legend>A group for each value of</legend>
          {others.map((name) => {
            const isIn = by.includes(name);
            return (
              <label class="check" key={name}>
                <input
                  type="checkbox"
                  checked={isIn}
                  onChange={() =>
                    onChange({ ...request, by: isIn ? by.filter((one) => one !== name) : [...by, name] })
                  }
                />
                <span>{name}</span>
              </label>
            );
          })}
        </fieldset>
      )}
      <button type="button" class="primary" disabled={isBusy} onClick={onAudit}>
        {isBusy ? "Auditing…" : "Audit"}
      </button>
    </section>
  );
}
