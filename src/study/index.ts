export type { EncodingRequest } from "./design.ts";
export { placesAmong, type ResolveMembers } from "./members.ts";
export {
  divideAgain,
  fromPlainStudy,
  type PlainStudy,
  type PreparedStudy,
  prepareStudy,
  redesign,
  type StudyRequest,
  toPlainStudy,
  withSplit,
} from "./prepare.ts";
export {
  type PackedContent,
  type PackedSplit,
  packSplit,
  type SetSizes,
  type SplitRequest,
  unpackSplit,
} from "./split.ts";
export {
  type Design,
  encodeStudyRows,
  pickStudyGroups,
  pickStudyRows,
  type Study,
  type StudyColumns,
  type StudyGroup,
  type StudyRows,
  type Subject,
} from "./study.ts";
