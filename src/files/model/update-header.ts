/**
 * Converts headers of earlier versions to the present field names. Files before version 3 call the distance of a
 * constraint `kind` and the validation rows `valid`. The schema reports anything else that is wrong with a header.
 */

/** The first version with the present names. */
const PRESENT_NAMES = 3;

type Fields = Readonly<Record<string, unknown>>;

export function updateHeader(header: unknown, version: number): unknown {
  if (version >= PRESENT_NAMES || !isObject(header)) return header;
  const { options, training } = header;
  return {
    ...header,
    ...(isObject(options) ? { options: updateField(options, "constraint", { kind: "distance" }) } : {}),
    ...(isObject(training)
      ? {
          training: updateField(updateField(training, "rows", SETS), "people", SETS),
        }
      : {}),
  };
}

const SETS = { valid: "validation" } as const;

/**
 * The object with fields renamed in one of its inner objects, their order kept. A version spells a field in one way
 * only: the present spelling in an earlier version is left out, and the schema then reports it missing.
 */
function updateField(object: Fields, name: string, names: Readonly<Record<string, string>>): Fields {
  const field = object[name];
  if (!isObject(field)) return object;
  const present = new Set(Object.values(names));
  const renamed = Object.entries(field)
    .filter(([key]) => !present.has(key))
    .map(([key, value]) => [Object.hasOwn(names, key) ? names[key] : key, value]);
  return { ...object, [name]: Object.fromEntries(renamed) };
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
