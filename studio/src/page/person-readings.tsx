/** What the model says of a person: the curve within its band, risks in words, as a hundred people and in numbers. */
import { useMemo } from "preact/hooks";
import type { PersonRisk, PersonView } from "../protocol.ts";
import { CauseLegend, drawPersonCauses } from "./cause-plots.tsx";
import { percent } from "./controls.tsx";
import { drawPerson, Figure } from "./plots.tsx";

function sayTime(time: number, unit: string): string {
  const rounded = Number(time.toPrecision(3));
  return unit === "" ? `time ${rounded}` : `${rounded} ${unit}`;
}

/** People of a hundred stand in rows of ten, each so many units wide and high, as on the card. */
const PLACE = { columns: 10, width: 11, height: 15 } as const;
const BODY = "M2 13.5v-3.6a3.4 3.4 0 0 1 6.8 0v3.6z";

/** A hundred people, of whom as many are filled as have had the event. */
function Hundred({ one }: { readonly one: PersonRisk }) {
  const { moment, risk, sentence, range } = one;
  const filled = Math.round(100 * risk);
  const { columns, width, height } = PLACE;
  const places = Array.from({ length: 100 }, (_, k) => k);
  return (
    <figure class="hundred">
      <figcaption>By {moment}</figcaption>
      <svg viewBox={`0 0 ${columns * width} ${columns * height}`} role="img" aria-label={sentence}>
        {places.map((k) => (
          <g
            key={k}
            class={k < filled ? "had" : undefined}
            transform={`translate(${(k % columns) * width} ${Math.floor(k / columns) * height})`}
          >
            <circle cx="5.4" cy="3.4" r="2.1" />
            <path d={BODY} />
          </g>
        ))}
      </svg>
      <p>{sentence}</p>
      {range !== null && <p class="hint">{range}</p>}
    </figure>
  );
}

export function Readings({ view, unit }: { readonly view: PersonView; readonly unit: string }) {
  const { curve, band, before, everyone, risks, causes, sentence, median, doubts } = view;
  const draw = useMemo(
    () =>
      causes.length > 0
        ? drawPersonCauses(curve.time, causes, everyone, unit)
        : drawPerson({ curve, band, before, everyone }, unit),
    [view, unit],
  );
  const which = causes.length > 0 ? "any of them" : "the event";
  return (
    <>
      <p class="say sentence" role="status">
        {sentence}
      </p>
      {causes.length > 0 ? (
        <CauseLegend causes={causes} />
      ) : (
        <p class="legend">
          <span class="predicted solid">this person</span>
          {before !== null && <span class="before">as the row is</span>}
          {everyone.time.length > 0 && <span class="everyone">mean of all</span>}
          {band !== null && <span class="band">95 % band</span>}
        </p>
      )}
      <Figure
        label={
          causes.length > 0
            ? "Predicted incidences of this person, stacked"
            : "Predicted curve of this person"
        }
        draw={draw}
        height={280}
      />
      {causes.length > 0 && everyone.time.length > 0 && (
        <p class="hint">Dotted: any cause, the mean of all.</p>
      )}
      {causes.length === 0 && (
        <div class="hundreds">
          {risks.map((one) => (
            <Hundred key={one.moment} one={one} />
          ))}
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section class="scroll" aria-label="Risks" tabIndex={0}>
        <table class="risks">
          <caption class="unseen">Risk of the event by some times</caption>
          <thead>
            <tr>
              <th scope="col">By</th>
              {risks.map(({ moment }) => (
                <th scope="col" class="right" key={moment}>
                  {moment}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <tr>
              <th scope="row">{causes.length === 0 ? "Risk" : "Any cause"}</th>
              {risks.map(({ moment, risk }) => (
                <td class="right" key={moment}>
                  <strong>{percent(risk)}</strong>
                </td>
              ))}
            </tr>
            {causes.map(({ name, risks: own }) => (
              <tr key={name}>
                <th scope="row">
                  <bdi>{name}</bdi>
                </th>
                {risks.map(({ moment }, k) => (
                  <td class="right" key={moment}>
                    {percent(own[k])}
                  </td>
                ))}
              </tr>
            ))}
            {before !== null && (
              <tr class="was">
                <th scope="row">As the row is</th>
                {risks.map(({ moment, before: was }) => (
                  <td class="right" key={moment}>
                    {was === null ? "–" : percent(was)}
                  </td>
                ))}
              </tr>
            )}
          </tbody>
        </table>
      </section>
      <p class="hint">
        {median === null
          ? `More than half of people like this one are expected to stay without ${which} to the end of follow-up.`
          : `Half of people like this one are expected to have had ${which} by ${sayTime(median, unit)}.`}
      </p>
      {doubts.map((doubt) => (
        <p class="finding warning" key={doubt}>
          {doubt}
        </p>
      ))}
      <p class="hint">
        A slider says what the model would predict of someone who differs in this value alone. It does not say
        what would happen if the value were changed.
      </p>
    </>
  );
}
