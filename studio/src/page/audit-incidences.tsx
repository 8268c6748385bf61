/**
 * Another model's incidences of several causes: a file for each cause, row by row beside the table that is open in the
 * first step, whose outcome says which causes there are.
 */
import { useState } from "preact/hooks";
import type { IncidenceRequest } from "../protocol.ts";
import type { StepProps } from "./app.tsx";
import { count, Field, FileDrop } from "./controls.tsx";

const ACCEPT = ".csv,.tsv,.gz,.parquet,.pq";

interface AuditProps extends Pick<StepProps, "studio"> {
  readonly isBusy: boolean;
  readonly onAudit: (request: IncidenceRequest) => void;
}

/** Nothing where the table that is open has one kind of event, or none is. */
export function AuditIncidences({ studio, isBusy, onAudit }: AuditProps) {
  const { table, gate } = studio;
  const [files, setFiles] = useState<Readonly<Record<string, File>>>({});
  const [horizon, setHorizon] = useState("");
  const causes = gate?.causes ?? [];
  if (table === null || causes.length === 0) return null;
  const chosen = causes.flatMap(({ name }) => (files[name] ? [{ cause: name, file: files[name] }] : []));
  return (
    <section class="card" aria-label="Incidences by cause">
      <h2>Incidences by cause</h2>
      <p class="hint">
        Of the {count(table.rows)} rows of <bdi>{table.name}</bdi>, in their order: a file for each cause,
        with the columns F(90), F(180), … and the same times in each.
      </p>
      <div class="incidence-files">
        {causes.map(({ name }) => (
          <FileDrop
            key={name}
            label={`Incidence of ${name}`}
            accept={ACCEPT}
            onFile={(file) => setFiles({ ...files, [name]: file })}
          >
            <strong>
              <bdi>{name}</bdi>
            </strong>
            <span>{files[name]?.name ?? "drop its file here"}</span>
          </FileDrop>
        ))}
      </div>
      <div class="fields">
        <Field
          label="Last time"
          type="number"
          value={horizon}
          placeholder="only for columns F1, F2, …"
          onInput={setHorizon}
        />
      </div>
      <button
        type="button"
        class="primary"
        disabled={isBusy || chosen.length < causes.length}
        onClick={() => onAudit({ files: chosen, horizon })}
      >
        {isBusy ? "Auditing…" : "Audit by cause"}
      </button>
    </section>
  );
}
