// Documents with one thing changed: a field left out, one too many, or a value of another type. A schema that asserts
// something complains of each, but for fields that may be left out.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

/** Keys and places from the top of a document. */
export type JsonPath = readonly (string | number)[];

export interface Mutation {
  readonly what: "left out" | "one too many" | "another type";
  readonly path: JsonPath;
  readonly document: Json;
}

/** Every mutation of a document whose place is not among those `seen`, which it adds to. */
export function* mutate(document: JsonObject, seen: Set<string>): Generator<Mutation> {
  yield { what: "one too many", path: [], document: { ...document, surprise: 1 } };
  for (const { path, value, parent } of listSpots(document)) {
    const place = [...path.map((key) => (typeof key === "number" ? "*" : key)), formOf(parent)].join("/");
    if (seen.has(place)) continue;
    seen.add(place);
    if (!Array.isArray(parent)) {
      const shorter = change(document, path.slice(0, -1), (one) => omit(one as JsonObject, path.at(-1)));
      yield { what: "left out", path, document: shorter };
    }
    for (const other of otherTypes(value)) {
      yield { what: "another type", path, document: change(document, path, () => other) };
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) continue;
    const longer = change(document, path, (one) => ({ ...(one as JsonObject), surprise: 1 }));
    yield { what: "one too many", path, document: longer };
  }
}

interface Spot {
  readonly path: JsonPath;
  readonly value: Json;
  readonly parent: Json;
}

/** Every place of a document; of the entries of a list, one of each form. */
function listSpots(parent: Json, path: JsonPath = []): readonly Spot[] {
  if (typeof parent !== "object" || parent === null) return [];
  const entries: readonly (readonly [string | number, Json])[] = Array.isArray(parent)
    ? [...new Map(parent.map((value: Json, k) => [formOf(value), [k, value] as const])).values()]
    : Object.entries(parent);
  return entries.flatMap(([key, value]) => [
    { path: [...path, key], value, parent },
    ...listSpots(value, [...path, key]),
  ]);
}

const forms = new WeakMap<object, string>();

/** Which fields a value has, whatever is in them, and of a finding which kind it is. */
function formOf(value: Json): string {
  if (typeof value !== "object" || value === null) return "";
  const known = forms.get(value);
  if (known !== undefined) return known;
  const form = Array.isArray(value)
    ? [...new Set(value.map(formOf))].join()
    : Object.entries(value)
        .map(([key, one]) => `${key}:${key === "code" ? one : formOf(one)}`)
        .join();
  forms.set(value, `{${form}}`);
  return `{${form}}`;
}

function change(value: Json, path: JsonPath, to: (value: Json) => Json): Json {
  if (path.length === 0) return to(value);
  const [key, ...rest] = path;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as JsonObject) }) as Record<string, Json>;
  copy[key] = change(copy[key], rest, to);
  return copy as Json;
}

function omit(value: JsonObject, name: string | number | undefined): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
}

/** No field takes these in place of the value. */
function otherTypes(value: Json): readonly Json[] {
  if (typeof value === "number") return [{ surprise: value }, String(value)];
  return typeof value === "object" && value !== null ? ["surprise"] : [{ surprise: value }];
}
