/** The second step: groups, suggested, built from tests, or written; each with its people, events and curve. */
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Curve, GroupView, NamedGroup } from "../protocol.ts";
import type { StepProps } from "./app.tsx";
import { count, Next } from "./controls.tsx";
import { GroupBuilder } from "./group-builder.tsx";
import { CauseLegend, drawSmallCauses } from "./cause-plots.tsx";
import { drawSmall, Figure } from "./plots.tsx";

const isSame = (one: NamedGroup, other: NamedGroup) => one.expression === other.expression;

export function GroupsStep({ studio, actions }: StepProps) {
  const { table, choices, gate } = studio;
  const { groups } = choices;
  const [suggested, setSuggested] = useState<readonly NamedGroup[]>([]);
  const [views, setViews] = useState<readonly GroupView[]>([]);
  const isReady = table !== null && gate !== null && gate.events !== null;
  const outcome = JSON.stringify([
    choices.time,
    choices.event,
    choices.eventIs,
    choices.causes,
    choices.causeNames,
    choices.origin,
    choices.entry,
    choices.start,
    choices.weights,
    choices.roles,
  ]);
  // What the suggestions depend on is in `outcome`.
  useEffect(() => {
    if (isReady) actions.desk.suggestGroups(choices).then(setSuggested, () => setSuggested([]));
  }, [isReady, outcome]);
  // What the curves depend on is in `outcome` too.
  useEffect(() => {
    let isCurrent = true;
    if (isReady)
      actions.desk.viewGroups(choices, groups).then(
        (all) => isCurrent && setViews(all),
        () => undefined,
      );
    return () => {
      isCurrent = false;
    };
  }, [isReady, outcome, groups]);
  if (!isReady) return <NotYet />;
  const add = (group: NamedGroup) => {
    if (!groups.some((one) => isSame(one, group))) actions.choose({ groups: [...groups, group] });
  };
  const remove = (group: NamedGroup) =>
    actions.choose({ groups: groups.filter((one) => !isSame(one, group)) });
  return (
    <>
      <h1>For whom should the curves be right?</h1>
      <p class="lead">
        Everyone together is always held. Name the groups that matter to you: the model’s mean curve is held
        to what was observed in each, and judged in each.
      </p>
      <section class="card">
        <h2>Suggestions</h2>
        <p class="hint">Values, bands and crosses of your columns with enough people and events.</p>
        <div class="chips">
          {suggested.map((group) => {
            const isIn = groups.some((one) => isSame(one, group));
            return (
              <button
                type="button"
                key={group.expression}
                class={`toggle${isIn ? " on" : ""}`}
                aria-pressed={isIn}
                onClick={() => (isIn ? remove(group) : add(group))}
              >
                <span aria-hidden="true">{isIn ? "✓" : "+"}</span> {group.name}
              </button>
            );
          })}
          {suggested.length > 0 && (
            <button
              type="button"
              class="quiet"
              onClick={() => actions.choose({ groups: mergeGroups(groups, suggested) })}
            >
              Take them all
            </button>
          )}
          {suggested.length === 0 && <p class="hint">Looking for groups…</p>}
        </div>
        <GroupBuilder studio={studio} actions={actions} onAdd={add} />
      </section>
      {groups.length > 0 && gate.causes.length > 0 && <CauseLegend causes={gate.causes} />}
      {groups.length > 0 && gate.causes.length === 0 && (
        <p class="legend">
          <span class="observed">the group</span> <span class="everyone">everyone</span>
        </p>
      )}
      <section class="group-cards" aria-label="Chosen groups">
        {groups.map((group) => {
          const view = views.find((one) => isSame(one, group)) ?? null;
          return (
            <GroupCard
              key={group.expression}
              group={group}
              view={view}
              everyone={gate.everyone}
              remove={remove}
            />
          );
        })}
      </section>
      {groups.length === 0 && <p class="empty">No group yet. Without one, only everyone together is held.</p>}
      <Next to="train" />
    </>
  );
}

function mergeGroups(groups: readonly NamedGroup[], more: readonly NamedGroup[]): NamedGroup[] {
  return [...groups, ...more.filter((group) => !groups.some((one) => isSame(one, group)))];
}

export function NotYet() {
  return (
    <section class="welcome">
      <h1>First, some data</h1>
      <p class="lead">Open a file in the first step and say which column is the time and which the event.</p>
      <p>
        <a class="primary button" href="#table">
          To the first step
        </a>
      </p>
    </section>
  );
}

interface CardProps {
  readonly group: NamedGroup;
  readonly view: GroupView | null;
  readonly everyone: Curve | null;
  readonly remove: (group: NamedGroup) => void;
}

function GroupCard({ group, view, everyone, remove }: CardProps) {
  const { curve = null, causes = [] } = view ?? {};
  const draw = useMemo(
    () => (causes.length > 0 ? drawSmallCauses(causes) : curve && drawSmall(curve, everyone)),
    [curve, causes, everyone],
  );
  const { name, expression } = group;
  return (
    <article class="card group-card">
      <h3>
        <bdi>{name}</bdi>
      </h3>
      {name !== expression && <code>{expression}</code>}
      {view?.trouble && <p class="hint bad">{view.trouble.message}</p>}
      {view !== null && view.trouble === null && (
        <p class="sizes">
          {count(view.rows)} people,{" "}
          {view.causes.length === 0
            ? `${count(view.events)} events`
            : view.causes.map(({ name, events }) => `${count(events)} ${name}`).join(", ")}
        </p>
      )}
      {view?.few && (
        <p class="chip few" title={view.few}>
          too few to say
        </p>
      )}
      {draw !== null && view?.trouble === null && (
        <Figure
          label={causes.length > 0 ? `Incidences of ${name}` : `Kaplan-Meier of ${name} beside everyone`}
          draw={draw}
          height={120}
        />
      )}
      <button type="button" class="quiet" onClick={() => remove(group)}>
        Remove <span class="unseen">{name}</span>
      </button>
    </article>
  );
}
