/**
 * The page's only script: it sorts the table of scores. The page's policy allows only a script with this hash to run; a
 * test recomputes the hash. Without scripts everything is still there, in the order of the audit.
 */

export const SORT_SCRIPT = `
"use strict";
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const body = table.querySelector("tbody[data-rows]");
  const said = document.getElementById("sorted");
  const heads = [...table.querySelectorAll("thead th")];
  heads.forEach((head, column) => {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const before = head.getAttribute("aria-sort");
      const first = head.dataset.first;
      const order = before === null ? first : before === "ascending" ? "descending" : "ascending";
      for (const other of heads) {
        other.removeAttribute("aria-sort");
        const arrow = other.querySelector(".arrow");
        if (arrow) arrow.textContent = "\\u2195";
      }
      head.setAttribute("aria-sort", order);
      head.querySelector(".arrow").textContent = order === "ascending" ? "\\u2191" : "\\u2193";
      const sign = order === "ascending" ? 1 : -1;
      const keyOf = (row) => row.cells[column].dataset.value;
      const rows = [...body.rows].sort((a, b) => {
        const x = keyOf(a);
        const y = keyOf(b);
        if (x === undefined || y === undefined) return (x === undefined ? 1 : 0) - (y === undefined ? 1 : 0);
        return sign * (head.dataset.kind === "text" ? x.localeCompare(y) : Number(x) - Number(y));
      });
      body.append(...rows);
      said.textContent = "Sorted by " + button.dataset.name + ", " + order;
    });
  });
}
`;

/** The hash of SORT_SCRIPT, as the Content-Security-Policy writes it. */
export const SORT_SCRIPT_HASH = "sha256-lWGp/z+OYdEQoCTxO5aOtJP07ZXZpj6fMvTHU3BTyEs=";
