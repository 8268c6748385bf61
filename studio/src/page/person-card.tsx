/**
 * What drives a person's risk, column by column, which follows the sliders, and the whole card, which can be opened and
 * downloaded. While one answer is being computed only the last question waits: what a slider passed on its way is not
 * asked.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { DriversView, PersonRequest, PersonValues, Trouble } from "../protocol.ts";
import type { StepProps } from "./app.tsx";
import type { Refusal } from "./client.ts";
import { percent, TroubleCard } from "./controls.tsx";
import { save } from "./studio.ts";
import { ReportFrame } from "./verdict-step.tsx";

/** Milliseconds of quiet before a risk is taken apart. */
const EXPLAIN_AFTER = 150;

interface CardProps extends Pick<StepProps, "actions"> {
  readonly row: number | null;
  readonly values: PersonValues;
}

export function PersonCard({ actions, row, values }: CardProps) {
  const { views, trouble, isStale } = useDrivers(actions, row, values);
  return (
    <section class="card-of" aria-label="The card">
      {trouble !== null && <TroubleCard trouble={trouble} />}
      {views === null && trouble === null && <p class="hint">Taking the risk apart…</p>}
      {views !== null && (
        <div class={`drivers-of${isStale ? " stale" : ""}`} aria-busy={isStale}>
          {views.map((view) => (
            <Drivers key={view.cause ?? ""} view={view} />
          ))}
        </div>
      )}
      <WholeCard actions={actions} row={row} values={values} />
    </section>
  );
}

/** The answer to the last question that was answered, and whether it is still the last one asked. */
function useDrivers(actions: CardProps["actions"], row: number | null, values: PersonValues) {
  const [views, setViews] = useState<readonly DriversView[] | null>(null);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const [isStale, setStale] = useState(false);
  const wanted = useRef<PersonRequest | null>(null);
  const isAsking = useRef(false);
  useEffect(() => {
    const request: PersonRequest = { row, values };
    setStale(true);
    const timer = setTimeout(() => {
      wanted.current = request;
      if (!isAsking.current) void askOn();
    }, EXPLAIN_AFTER);
    return () => {
      clearTimeout(timer);
      if (wanted.current === request) wanted.current = null;
    };
  }, [row, values]);
  async function askOn(): Promise<void> {
    isAsking.current = true;
    for (
      let asked = wanted.current;
      asked !== null;
      asked = wanted.current === asked ? null : wanted.current
    ) {
      const answer = await actions.desk.explainPerson(asked).then(
        (all) => ({ all, trouble: null }),
        (error: Refusal) => ({ all: null, trouble: error.trouble }),
      );
      if (wanted.current !== asked) continue;
      setViews(answer.all);
      setTrouble(answer.trouble);
      setStale(false);
    }
    isAsking.current = false;
  }
  return { views, trouble, isStale };
}

/** "+4.2", "−0.3", "0.0". */
function points(share: number): string {
  const size = (100 * Math.abs(share)).toFixed(1);
  return size === "0.0" ? size : `${share < 0 ? "−" : "+"}${size}`;
}

function Drivers({ view }: { readonly view: DriversView }) {
  const { cause, moment, everyone, person, drivers } = view;
  const longest = Math.max(...drivers.map(({ share }) => Math.abs(share)), Number.MIN_VALUE);
  return (
    <section class="card">
      <h2>What drives {cause === null ? "this risk" : <bdi>{cause}</bdi>}</h2>
      <p class="hint">
        How each column moves the risk by {moment} away from everyone’s mean, in points (hundredths).
      </p>
      <table class="drivers">
        <thead class="unseen">
          <tr>
            <th scope="col">Column</th>
            <th scope="col">Direction</th>
            <th scope="col">Points</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">everyone’s mean</th>
            <td />
            <td class="right">{percent(everyone)}</td>
          </tr>
          {drivers.map(({ name, value, share }) => (
            <tr key={name}>
              <th scope="row">
                <bdi>{name}</bdi>
                {value !== "" && (
                  <small>
                    <bdi>{value}</bdi>
                  </small>
                )}
              </th>
              <td>
                <span class="push" aria-hidden="true">
                  <span
                    class={share < 0 ? "down" : "up"}
                    style={{ width: `${(50 * Math.abs(share)) / longest}%` }}
                  />
                </span>
              </td>
              <td class="right">{points(share)}</td>
            </tr>
          ))}
          <tr class="total">
            <th scope="row">this person</th>
            <td />
            <td class="right">
              <strong>{percent(person)}</strong>
            </td>
          </tr>
        </tbody>
      </table>
    </section>
  );
}

/** The card as it is handed on, with bands and the groups the person belongs to. */
function WholeCard({ actions, row, values }: CardProps) {
  const [card, setCard] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const shown = useRef({ row, values });
  shown.current = { row, values };
  // Another person, another card.
  useEffect(() => setCard(null), [row, values]);
  const write = () => {
    setBusy(true);
    setTrouble(null);
    const isSame = () => shown.current.row === row && shown.current.values === values;
    actions.desk
      .writeCard({ row, values })
      .then(
        (page) => isSame() && setCard(page),
        (error: Refusal) => setTrouble(error.trouble),
      )
      .finally(() => setBusy(false));
  };
  const file = () => ({ name: "card.html", type: "text/html", bytes: new TextEncoder().encode(card ?? "") });
  return (
    <>
      <div class="downloads">
        <button type="button" disabled={isBusy} onClick={write}>
          {isBusy ? "Writing the card…" : "Write the whole card"}
        </button>
        {card !== null && (
          <button type="button" class="quiet" onClick={() => save(file())}>
            Download card
          </button>
        )}
      </div>
      {trouble !== null && <TroubleCard trouble={trouble} />}
      {card !== null && <ReportFrame report={card} title="Card" />}
    </>
  );
}
