// One chart on a canvas, by Chart.js: linear or log axes, a tip at the mouse, and the arrow keys for those without one.

Object.assign(Chart.defaults.font, { family: getComputedStyle(document.documentElement).fontFamily, size: 12 });
Chart.defaults.color = "#3c454e";
Chart.defaults.borderColor = "#e6e9ec";

const charts = new Map(); // canvas -> { chart, spec, at }

function axis(which, { label, log, percent, least }) {
  const ticks = { maxRotation: 0, autoSkipPadding: 14, callback: (value) => tick(value, log) };
  const title = { display: true, text: label };
  return { type: log ? "logarithmic" : "linear", ticks, title, ...(percent && !log ? { min: 0, max: 100 } : least === undefined || log ? {} : { min: least }) };
}

function tick(value, log) {
  const lead = log ? Number(value.toExponential(2).split("e")[0]) : 1;
  return [1, 2, 5].includes(lead) || !log ? shown(value, "") : "";
}

// spec: { datasets, x, y (see axis), about, describe(dataset, index) -> { title, lines }, open(dataset, index) }
// A dataset with `quiet` is neither hovered nor reached by keys.
function draw(canvas, spec) {
  erase(canvas);
  for (const [name, log] of [["x", spec.x.log], ["y", spec.y.log]])
    if (log) spec.datasets.forEach((set) => set.data.forEach((point) => { if (!(point[name] > 0)) point[name] = NaN; }));
  const chart = new Chart(canvas, {
    type: "line",
    data: { datasets: spec.datasets },
    options: {
      animation: false, responsive: true, maintainAspectRatio: false, parsing: false, normalized: true, clip: 8,
      interaction: { mode: "nearest", axis: "xy", intersect: false },
      layout: { padding: { top: 8, right: 10 } },
      scales: { x: axis("x", spec.x), y: axis("y", spec.y) },
      plugins: {
        legend: { display: false },
        tooltip: { enabled: false, filter: (item) => !item.dataset.quiet, external: ({ chart: one, tooltip }) => onHover(one, tooltip) },
      },
      onClick: (event, active) => {
        const there = active.find((one) => !spec.datasets[one.datasetIndex].quiet);
        if (there && spec.open) spec.open(there.datasetIndex, there.index);
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
