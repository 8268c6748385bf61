/** The fourth step: the report itself, the files to take along, and the command that repeats it all in a terminal. */
import { Fragment } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { StepProps } from "./app.tsx";
import type { CauseVerdict } from "../protocol.ts";
import { count, FileDrop, Next, TroubleCard } from "./controls.tsx";

const MODEL_FILES = ".model,.graduate,application/octet-stream";

/** A model that was made before, here or on the command line. */
export function OpenModel({
  actions,
  isSmall = false,
}: Pick<StepProps, "actions"> & { readonly isSmall?: boolean }) {
  return (
    <FileDrop
      label="Model"
      accept={MODEL_FILES}
      onFile={(file) => void actions.openModel(file)}
      isSmall={isSmall}
    >
      {isSmall ? (
        "Open another"
      ) : (
        <>
          <strong>Open a model</strong>
          <span>that this page or the command line has written</span>
        </>
      )}
    </FileDrop>
  );
}

export function VerdictStep({ studio, actions }: StepProps) {
  const { model, trouble } = studio;
  if (model === null) {
    return (
      <section class="welcome">
        <h1>No model yet</h1>
        <p class="lead">Train one in the step before, or open one from a file.</p>
        <OpenModel actions={actions} />
        {trouble !== null && <TroubleCard trouble={trouble} />}
      </section>
    );
  }
  const { report } = model;
  return (
    <>
      <div class="title">
        <h1>The verdict</h1>
        <p class="lead">
          <bdi>{model.name}</bdi>: {model.words}
          {model.met !== null && `, ${model.met}`}
        </p>
        <OpenModel actions={actions} isSmall />
      </div>
      {trouble !== null && <TroubleCard trouble={trouble} />}
      {model.warnings.map((warning) => (
        <p class="finding warning" key={warning}>
          {warning}
        </p>
      ))}
      <div class="downloads">
        {report !== null && (
          <button type="button" class="primary" onClick={() => void actions.download("report")}>
            Download report
          </button>
        )}
        <button type="button" onClick={() => void actions.download("model")}>
          Download model
        </button>
        <button type="button" onClick={() => void actions.download("onnx")}>
          Download ONNX
        </button>
        {model.hasCurves && (
          <button type="button" onClick={() => void actions.download("curves")}>
            Download curves (CSV)
          </button>
        )}
      </div>
      <Command command={model.command} />
      {report === null ? (
        <p class="empty">
          Open the data in the first step, and the model again, to see how it does on rows it has not seen.
        </p>
      ) : (
        <ReportFrame report={report} />
      )}
      {model.byCause !== null && <CauseVerdicts rows={model.byCause} />}
      <Next to="people" />
    </>
  );
}

/** What training said of every group and cause. */
function CauseVerdicts({ rows }: { readonly rows: readonly CauseVerdict[] }) {
  return (
    <details class="card" aria-label="Groups by cause">
      <summary>What training said of each group and cause</summary>
      <p class="hint">
        Distance is on the rows that the model was solved on, fresh on rows that nothing was fitted to.
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section class="scroll" aria-label="What training said" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Group and cause</th>
              {["Rows", "Events", "Slack", "Distance", "Fresh"].map((title) => (
                <th scope="col" class="right" key={title}>
                  {title}
                </th>
              ))}
              <th scope="col">Status</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ group, n, events, slack, distance, fresh, status }) => (
              <tr key={group}>
                <th scope="row">
                  <bdi>{group}</bdi>
                </th>
                <td class="right">{count(n)}</td>
                <td class="right">{count(events)}</td>
                <td class="right">{slack.toFixed(2)}</td>
                <td class="right">{distance.toFixed(2)}</td>
                <td class="right">{fresh === null ? "–" : fresh.toFixed(2)}</td>
                <td>{status}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  );
}

/** The report as it is downloaded: sandboxed, so that not even its own policy has to be trusted. */
export function ReportFrame({
  report,
  title = "Report",
}: {
  readonly report: string;
  readonly title?: string;
}) {
  const [address, setAddress] = useState<string>();
  // By an address, so that the browser reads it in parts: as a text within the page it would be parsed at one go.
  useEffect(() => {
    const own = URL.createObjectURL(new Blob([report], { type: "text/html" }));
    setAddress(own);
    return () => URL.revokeObjectURL(own);
  }, [report]);
  return <iframe class="report" title={title} sandbox="allow-scripts" src={address} />;
}

function Command({ command }: { readonly command: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <div class="card command">
      <h2>The same in a terminal</h2>
      <pre>
        <code>
          {command.split(/ (?=--)/).map((part) => (
            <Fragment key={part}>
              <span class="part">{part}</span>{" "}
            </Fragment>
          ))}
        </code>
      </pre>
      <button
        type="button"
        class="quiet"
        onClick={() => {
          navigator.clipboard.writeText(command).then(
            () => setCopied(true),
            () => setCopied(false),
          );
        }}
      >
        {isCopied ? "Copied" : "Copy"}
      </button>
    </div>
  );
}
