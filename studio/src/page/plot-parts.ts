/** The parts of Observable Plot that the page draws with; the rest of it is not shipped. */
export { areaY, lineY, plot } from "@observablehq/plot";
