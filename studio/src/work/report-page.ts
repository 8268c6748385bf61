/** Loaded when the first report or card is drawn: the plots are most of it. */
export { renderCardPage, renderCauseReport, renderReport } from "graduate-survival/report";
