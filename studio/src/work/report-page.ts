/** Loaded when the first report is drawn: the plots are most of it. */
export { renderReport } from "graduate/report";
