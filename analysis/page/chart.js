// One chart on a canvas, by Chart.js: linear or log axes, a tip at the mouse, and the arrow keys for those without one.

Object.assign(Chart.defaults.font, { family: getComputedStyle(document.documentElement).fontFamily, size: 12 });
Chart.defaults.color = "#3c454e";
Chart.defaults.borderColor = "#e6e9ec";

const charts = new Map(); // canvas -> { chart, spec, at }

// The nearest point at most this far from the mouse, in pixels, of the datasets that are not quiet.
const NEAR = 60;
Chart.Interaction.modes.nearestLoud = (chart, event) => {
  let [best, least] = [[], NEAR];
  chart.getSortedVisibleDatasetMetas().filter(({ index }) => !chart.data.datasets[index].quiet).forEach((meta) => meta.data.forEach((point, index) => {
    const away = point.skip ? Infinity : Math.hypot(point.x - event.x, point.y - event.y);
    if (away <= least) [best, least] = [[{ element: point, datasetIndex: meta.index, index }], away];
  }));
  return best;
};

// A log axis ends where the data do, at a number of one digit; Chart.js alone would go on to the next power of ten.
function ends(values) {
  const there = values.filter((value) => value > 0 && Number.isFinite(value));
  if (!there.length) return { min: 1, max: 10 };
  const round = (value, how) => { const power = 10 ** Math.floor(Math.log10(value)); return Number((how(value / power) * power).toPrecision(1)); };
  const [min, max] = [round(there.reduce((a, b) => Math.min(a, b)), Math.floor), round(there.reduce((a, b) => Math.max(a, b)), Math.ceil)];
  return min < max ? { min, max } : { min: min / 2, max: 2 * max };
}

// { label, log, percent: from 0 to 100, least: where it starts, wrap: the label in lines where it would be cut }
function axis({ label, log, percent, least, wrap }, values) {
  const limits = log ? ends(values) : percent ? { min: 0, max: 100 } : least === undefined ? {} : { min: least };
  const ticks = { maxRotation: 0, autoSkipPadding: 14, callback: (value) => (!log || said(value, limits) ? shown(value, "") : "") };
  const title = { display: true, text: wrap && innerWidth < 740 ? label.split(/(?<=,) /) : label };
  return { type: log ? "logarithmic" : "linear", ticks, title, ...limits };
}

// Which ticks of a log axis have a number: 1, 2 and 5 of each decade, all on a short axis, 1 on a long one.
function said(value, { min, max }) {
  const lead = Number(value.toExponential(2).split("e")[0]);
  return max / min <= 10 ? Number.isInteger(lead) : max / min <= 1e4 ? [1, 2, 5].includes(lead) : lead === 1;
}

// spec: { datasets, x, y: as axis takes them, about, describe(dataset, index) -> { title, lines }, open(dataset, index) }
// A dataset with `quiet` is neither hovered nor reached by keys.
function draw(canvas, spec) {
  erase(canvas);
  for (const [name, log] of [["x", spec.x.log], ["y", spec.y.log]])
    if (log) spec.datasets.forEach((set) => set.data.forEach((point) => { if (!(point[name] > 0)) point[name] = NaN; }));
  const all = (name) => spec.datasets.flatMap((set) => set.data.map((point) => point[name]));
  const chart = new Chart(canvas, {
    type: "line",
    data: { datasets: spec.datasets },
    options: {
      animation: false, responsive: true, maintainAspectRatio: false, parsing: false, normalized: true, clip: 8,
      interaction: { mode: "nearestLoud" },
      layout: { padding: { top: 8, right: 10 } },
      scales: { x: axis(spec.x, all("x")), y: axis(spec.y, all("y")) },
      plugins: {
        legend: { display: false },
        tooltip: { enabled: false, external: ({ chart: one, tooltip }) => onHover(one, tooltip) },
      },
      onClick: (event, active) => {
        if (active.length && spec.open) spec.open(active[0].datasetIndex, active[0].index);
      },
    },
  });
  canvas.setAttribute("aria-label", spec.about + " Arrow keys go through its points" + (spec.open ? ", Enter opens the unit." : "."));
  charts.set(canvas, { chart, spec, at: null });
  canvas.onkeydown = (event) => onKey(event, charts.get(canvas));
  canvas.onblur = hideTip;
  return chart;
}

function erase(canvas) {
  const old = charts.get(canvas);
  if (old) old.chart.destroy();
  charts.delete(canvas);
}

const tip = document.getElementById("tip");

function showTip(canvas, { title, lines }, x, y) {
  tip.replaceChildren(element("strong", {}, title), ...lines.map((line) => element("div", {}, line)));
  tip.hidden = false;
  const box = canvas.getBoundingClientRect();
  const [width, height] = [tip.offsetWidth, tip.offsetHeight];
  const left = box.left + x + 14 + width > innerWidth ? box.left + x - width - 14 : box.left + x + 14;
  tip.style.left = Math.max(4, left) + "px";
  tip.style.top = Math.max(4, Math.min(innerHeight - height - 4, box.top + y - height / 2)) + "px";
}

function hideTip() {
  tip.hidden = true;
}

function onHover(chart, tooltip) {
  const held = charts.get(chart.canvas);
  const point = tooltip.opacity ? (tooltip.dataPoints || [])[0] : null;
  if (!held || !point) return hideTip();
  held.at = { set: point.datasetIndex, index: point.dataIndex };
  showTip(chart.canvas, held.spec.describe(point.datasetIndex, point.dataIndex), tooltip.caretX, tooltip.caretY);
}

function onKey(event, held) {
  const sets = held.spec.datasets;
  const real = (set, index) => sets[set] && !sets[set].quiet && Number.isFinite(sets[set].data[index]?.y) && Number.isFinite(sets[set].data[index].x);
  const steps = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [1, 0], ArrowDown: [-1, 0] };
  if (event.key === "Escape") return hideTip();
  if (event.key === "Enter" && held.at && held.spec.open) return held.spec.open(held.at.set, held.at.index);
  if (!steps[event.key]) return;
  event.preventDefault();
  let { set, index } = held.at || { set: 0, index: -1 };
  const [bySet, byIndex] = held.at ? steps[event.key] : [0, 1];
  const longest = Math.max(0, ...sets.map((one) => one.data.length));
  const firstReal = (one) => [...Array(longest).keys()].sort((a, b) => Math.abs(a - index) - Math.abs(b - index)).find((i) => real(one, i));
  for (let tries = 0; tries <= Math.max(longest, sets.length); tries++) {
    set += bySet;
    index += byIndex;
    const there = bySet ? firstReal(set) : index;
    if (real(set, there)) return goTo(held, set, there);
    if (!sets[set] || index < 0 || index > longest) break;
  }
  for (let first = 0; !held.at && first < sets.length; first++) {
    const there = firstReal(first);
    if (real(first, there)) return goTo(held, first, there);
  }
}

function goTo(held, set, index) {
  held.at = { set, index };
  held.chart.setActiveElements([{ datasetIndex: set, index }]);
  held.chart.draw();
  const { x, y } = held.chart.getDatasetMeta(set).data[index].getProps(["x", "y"]);
  showTip(held.chart.canvas, held.spec.describe(set, index), x, y);
}

addEventListener("scroll", hideTip, { passive: true });
addEventListener("beforeprint", () => charts.forEach(({ chart }) => chart.resize(Math.min(660, chart.width), Math.min(300, chart.height))));
addEventListener("afterprint", () => charts.forEach(({ chart }) => chart.resize()));
