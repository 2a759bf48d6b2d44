// The table of rows: sorting by a column, picking rows for the plots; and the legend, which picks too.

const MOST_IN_LEGEND = 16; // of more, those that are shown
const table = document.getElementById("rows");

function sortValue(row, place) {
  const cell = row.cells[place];
  return place === 0 ? cell.textContent : cell.dataset.value;
}

// Numbers by value, texts by the alphabet, what is not measured always last.
function sortRows(place) {
  const head = table.tHead.rows[0].cells[place];
  const down = head.getAttribute("aria-sort") === "ascending";
  const rows = [...table.tBodies[0].rows];
  const sign = down ? -1 : 1;
  const compare = (a, b) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    const [x, y] = [Number(a), Number(b)];
    return sign * (Number.isFinite(x) && Number.isFinite(y) ? x - y : a.localeCompare(b));
  };
  rows.sort((a, b) => compare(sortValue(a, place), sortValue(b, place)));
  for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  table.tBodies[0].append(...rows);
}

function startTable() {
  [...table.tHead.rows[0].cells].forEach((cell, place) => cell.firstChild.addEventListener("click", () => sortRows(place)));
  for (const button of table.querySelectorAll(".pick")) {
    const row = Number(button.dataset.row);
    drawSwatch(button.querySelector("canvas"), looks[row]);
    button.addEventListener("click", () => toggle(row));
  }
  const all = DATA.rows.map((_, row) => row);
  const which = { all: () => all, none: () => [], stale: () => all.filter((row) => ["stale", "sometimes"].includes(DATA.rows[row].kind)) };
  for (const button of document.querySelectorAll("[data-pick]")) button.addEventListener("click", () => pick(which[button.dataset.pick]()));
  onPick.push(showPicks, showLegend);
}

function showPicks() {
  for (const button of table.querySelectorAll(".pick")) {
    const on = picked.has(Number(button.dataset.row));
    button.setAttribute("aria-pressed", on);
    button.closest("tr").classList.toggle("off", !on);
  }
  document.getElementById("picked").textContent = `${picked.size} of ${DATA.rows.length} shown`;
}

function showLegend() {
  const legend = document.getElementById("legend");
  const focused = legend.contains(document.activeElement) ? document.activeElement.dataset.row : null;
  const rows = DATA.rows.map((_, row) => row).filter((row) => DATA.rows.length <= MOST_IN_LEGEND || picked.has(row));
  legend.replaceChildren(...rows.map((row) => {
    const button = element("button", { type: "button", class: picked.has(row) ? "pick" : "pick off", "data-row": row, "aria-pressed": picked.has(row) },
      swatch(looks[row]), element("span", {}, DATA.rows[row].name));
    button.addEventListener("click", () => toggle(row));
    return button;
  }));
  if (focused !== null) legend.querySelector(`[data-row="${focused}"]`)?.focus();
}
