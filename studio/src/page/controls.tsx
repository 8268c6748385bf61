/** Small parts that every step uses: fields with their names, a file that can be dropped, troubles, and the way on. */
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import type { Trouble } from "../protocol.ts";
import { STEPS, type StepName } from "./steps.ts";

interface Choice {
  readonly value: string;
  readonly text: string;
}

/** A list to choose from, with its name before it. */
export function Select(props: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (string | Choice)[];
  readonly onChange: (value: string) => void;
  readonly hint?: ComponentChildren;
  readonly isBare?: boolean;
}) {
  const { label, value, options, onChange, hint, isBare = false } = props;
  const id = useId();
  const list = (
    <select
      id={id}
      value={value}
      aria-label={isBare ? label : undefined}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {options.map((option) => {
        const { value: own, text } = typeof option === "string" ? { value: option, text: option } : option;
        return (
          <option key={own} value={own} selected={own === value}>
            {text}
          </option>
        );
      })}
    </select>
  );
  return isBare ? list : <Named {...{ id, label, hint }}>{list}</Named>;
}

/** A line to type in, with its name before it. */
export function Field(props: {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint?: ComponentChildren;
  readonly type?: "text" | "number";
  readonly placeholder?: string | undefined;
  readonly isCode?: boolean;
}) {
  const { label, value, onInput, hint, type = "text", placeholder, isCode = false } = props;
  const id = useId();
  return (
    <Named {...{ id, label, hint }}>
      <input
        id={id}
        class={isCode ? "code" : undefined}
        {...(type === "number" ? { type: "number", step: "any" } : { type: "text" })}
        value={value}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </Named>
  );
}

interface NamedProps {
  readonly id: string;
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly children: ComponentChildren;
}

function Named({ id, label, hint, children }: NamedProps) {
  return (
    <div class="field">
      <label class="name" for={id}>
        {label}
      </label>
      {children}
      {hint && <p class="hint">{hint}</p>}
    </div>
  );
}

/** A file from this computer, chosen or dropped. */
export function FileDrop(props: {
  readonly label: string;
  readonly accept: string;
  readonly onFile: (file: File) => void;
  readonly children: ComponentChildren;
  readonly isSmall?: boolean;
}) {
  const { label, accept, onFile, children, isSmall = false } = props;
  const [isOver, setOver] = useState(false);
  const take = (files: FileList | null | undefined) => {
    const file = files?.[0];
    if (file !== undefined) onFile(file);
  };
  return (
    <label
      class={`drop${isOver ? " over" : ""}${isSmall ? " small" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer?.files);
      }}
    >
      <input
        type="file"
        class="unseen"
        aria-label={label}
        accept={accept}
        onChange={(event) => {
          take(event.currentTarget.files);
          event.currentTarget.value = "";
        }}
      />
      {children}
    </label>
  );
}

/** What could not be done: what is wrong, where, and what to do. */
export function TroubleCard({
  trouble,
  children,
}: {
  readonly trouble: Trouble;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="finding error" role="alert">
      <p class="say">{trouble.message}</p>
      {trouble.where && <p class="hint">{trouble.where}</p>}
      {trouble.hint && <p class="hint">{trouble.hint}</p>}
      {children && <div class="mend">{children}</div>}
    </div>
  );
}

/** The way to another step. The button is called the same everywhere; where it leads stands beside it. */
export function Next(props: {
  readonly to: StepName;
  readonly isReady?: boolean;
  readonly why?: string | undefined;
}) {
  const { to, isReady = true, why } = props;
  const id = useId();
  const title = STEPS.find(({ name }) => name === to)?.title ?? "";
  return (
    <div class="next">
      <p class="hint" id={id}>
        {!isReady && why ? why : `to “${title}”`}
      </p>
      <button
        type="button"
        class="primary"
        disabled={!isReady}
        aria-describedby={id}
        onClick={() => goTo(to)}
      >
        Next <span aria-hidden="true">→</span>
      </button>
    </div>
  );
}

export function goTo(step: StepName): void {
  location.hash = step;
  scrollTo({ top: 0 });
}

/** 4,028 */
export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

export function percent(share: number): string {
  const points = 100 * share;
  if (points > 0 && points < 0.1) return "under 0.1 %";
  return points < 100 && points > 99.9 ? "over 99.9 %" : `${points.toFixed(1)} %`;
}
