/** Reports as pages, on a small document of their own; what draws them is loaded with the first. */
import { version } from "graduate-survival/package.json";
import {
  type CauseReportInput,
  type GatherInput,
  gatherCauseReport,
  gatherReport,
} from "graduate-survival/report";

export const PROGRAM = `graduate ${version}`;

async function loadDrawing() {
  const [{ parseHTML }, pages] = await Promise.all([import("linkedom/worker"), import("./report-page.ts")]);
  return { document: parseHTML("<html></html>").document, ...pages };
}

export async function renderPage(input: GatherInput): Promise<string> {
  const { document, renderReport } = await loadDrawing();
  return renderReport(gatherReport(input), { document });
}

/** Of several causes. */
export async function renderCausePage(input: CauseReportInput): Promise<string> {
  const { document, renderCauseReport } = await loadDrawing();
  return renderCauseReport(gatherCauseReport(input), { document });
}

export async function renderCard(card: Parameters<typeof import("./report-page.ts").renderCardPage>[0]) {
  const { document, renderCardPage } = await loadDrawing();
  return renderCardPage(card, { document, program: PROGRAM });
}
