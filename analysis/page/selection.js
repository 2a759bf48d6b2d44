// Which rows the plots show, and how each row looks: colour by arm (Okabe and Ito's palette), dash and marker by its row in the arm.

const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"];
const DASHES = [[], [7, 4], [2, 3], [10, 4, 2, 4], [4, 2]];
const MARKERS = ["circle", "rect", "triangle", "rectRot", "crossRot", "star", "cross"];
const MOST_AT_FIRST = 12;

const looks = (() => {
  const arms = new Map();
  const made = new Array(DATA.rows.length);
  DATA.unitRow.forEach((row) => {
    if (made[row]) return;
    const arm = DATA.rows[row].arm;
    if (!arms.has(arm)) arms.set(arm, { place: arms.size, rows: 0 });
    const { place } = arms.get(arm);
    const variant = arms.get(arm).rows++ + 3 * Math.floor(place / COLOURS.length);
    made[row] = { colour: COLOURS[place % COLOURS.length], dash: DASHES[variant % DASHES.length], marker: MARKERS[variant % MARKERS.length] };
  });
  return made;
})();

const picked = new Set();
const onPick = [];

function pick(rows) {
  picked.clear();
  rows.forEach((row) => picked.add(row));
  onPick.forEach((tell) => tell());
}

function toggle(row) {
  if (!picked.delete(row)) picked.add(row);
  onPick.forEach((tell) => tell());
}

// All rows; of many, those that are stalest and those that keep up best.
function pickAtFirst() {
  const all = DATA.rows.map((_, row) => row);
  if (all.length <= MOST_AT_FIRST) return all;
  const order = Object.keys(DATA.kinds);
  const ill = (row) => -100 * order.indexOf(DATA.rows[row].kind) + DATA.rows[row].stale;
  const sorted = all.filter((row) => DATA.rows[row].kind !== "unmeasured").sort((a, b) => ill(b) - ill(a));
  return sorted.length <= 8 ? sorted : [...sorted.slice(0, 4), ...sorted.slice(-4)];
}

function fade(colour, share) {
  return colour + Math.round(255 * share).toString(16).padStart(2, "0");
}

function swatch(look) {
  const canvas = element("canvas", { class: "swatch", width: 68, height: 28, "aria-hidden": "true" });
  drawSwatch(canvas, look);
  return canvas;
}

function drawSwatch(canvas, { colour, dash, marker }) {
  const context = canvas.getContext("2d");
  context.scale(2, 2);
  Object.assign(context, { strokeStyle: colour, fillStyle: colour, lineWidth: 2 });
  context.setLineDash(dash);
  context.beginPath();
  context.moveTo(0, 7);
  context.lineTo(34, 7);
  context.stroke();
  context.setLineDash([]);
  if (marker) Chart.helpers.drawPoint(context, { pointStyle: marker, radius: 4.5, rotation: 0, borderWidth: 2 }, 17, 7);
}

// The units of the rows that are picked, in the store's order.
function pickedUnits() {
  return DATA.unitRow.flatMap((row, unit) => (picked.has(row) ? [unit] : []));
}
