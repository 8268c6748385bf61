/**
 * Names of columns that say whose row it is, and of columns that say where somebody lives or was treated. Names are cut
 * into words at _ - . blanks and capitals (`PatientNr`, `nhs_number`), since "inpatient" and "age_of_person" are no
 * ids. A name alone proves nothing: identifiers.ts also requires values that repeat as those of people with several
 * rows do.
 */

/** Words for a person, … */
const PERSON = new Set(
  (
    "patient pat pt subject subj person participant proband case client individual pseudonym pseudo mrn nhs chi " +
    "ssn pid patid ptid subjid usubjid patientid personid subjectid caseid"
  ).split(" "),
);
/** … and words that may stand beside one without making the column a measurement of the person. */
const NUMBERING = new Set(
  "id no nr num number nummer code key identifier study unique medical record".split(" "),
);
/** Words for places with many people. */
const PLACE = new Set(
  (
    "zip zipcode postcode postal plz area region hospital clinic ward centre center site inst institution institute " +
    "school county district city town village state province country municipality neighbourhood neighborhood " +
    "gp practice"
  ).split(" "),
);
/** The number under which a hospital knows a patient; `hospital_id` is the hospital's own. */
const HOSPITAL_NUMBER = /^hospital(no|nr|num|number)$/;
/** "loan_id", "case.id"; … */
const ENDS_IN_ID = /(^|[._ -])p?id$/i;
/** … and "patID", where only the capitals tell an id from the end of a word. */
const CAPITAL_ID = /[a-z]ID$/;

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== "");
}

/** Whether a column is named like a place. */
export function isNamedAsPlace(name: string): boolean {
  const words = wordsOf(name);
  return words.some((word) => PLACE.has(word)) && !isNamedAsPerson(name);
}

/** Whether a column is named like an id of people, and like nothing else. */
export function isNamedAsPerson(name: string): boolean {
  const words = wordsOf(name);
  if (HOSPITAL_NUMBER.test(words.join("")) || words.join("") === "id") return true;
  return (
    words.some((word) => PERSON.has(word)) && words.every((word) => PERSON.has(word) || NUMBERING.has(word))
  );
}

/** Whether a column is named like an id. */
export function isNamedAsId(name: string): boolean {
  if (isNamedAsPerson(name)) return true;
  return !isNamedAsPlace(name) && (ENDS_IN_ID.test(name) || CAPITAL_ID.test(name));
}
