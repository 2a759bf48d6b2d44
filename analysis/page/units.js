// A section for each unit, made when it is opened; the list shows some at a time.

const PAGE_LENGTH = 50;
let matching = [];
let listed = 0;

const haystacks = [];
function haystack(unit) {
  if (!haystacks[unit]) {
    const pairs = DATA.columns.map((one) => [one.name, one.values[one.index[unit]]]).filter(([, text]) => text !== "");
    const settings = pairs.map(([name, text]) => `${name}=${text} ${text}`).join(" ");
    haystacks[unit] = ` ${unitName(unit)} ${rowOf(unit).name} ${DATA.kinds[DATA.unitKind[unit]]} ${settings} `.toLowerCase();
  }
  return haystacks[unit];
}

// Every word of the search must be there; NAME=VALUE exactly.
function matches(unit, words) {
  return words.every((word) => haystack(unit).includes(word.includes("=") ? ` ${word} ` : word));
}

function listUnits() {
  const words = document.getElementById("find").value.toLowerCase().split(/[\s,]+/).filter(Boolean);
  const only = document.getElementById("picked-only").checked;
  matching = [...Array(UNITS).keys()].filter((unit) => (!only || picked.has(DATA.unitRow[unit])) && (!words.length || matches(unit, words)));
  for (const canvas of [...charts.keys()]) if (canvas.closest("#unit-list")) erase(canvas);
  document.getElementById("unit-list").replaceChildren();
  listed = 0;
  listMore();
}

function listMore(until = listed + PAGE_LENGTH) {
  const next = matching.slice(listed, until);
  document.getElementById("unit-list").append(...next.map(unitSection));
  listed += next.length;
  const left = matching.length - listed;
  document.getElementById("more").hidden = left <= 0;
  document.getElementById("more").textContent = `Show ${Math.min(PAGE_LENGTH, left)} more of ${left.toLocaleString("en")}`;
  const all = UNITS.toLocaleString("en");
  document.getElementById("found").textContent = `${matching.length === UNITS ? all : `${matching.length.toLocaleString("en")} of ${all}`} units`;
}

function unitSection(unit) {
  const kind = DATA.unitKind[unit];
  const verdict = element("span", { class: `verdict ${kind}` }, element("span", { class: `mark ${kind}`, "aria-hidden": "true" }), DATA.kinds[kind]);
  const seed = setting("seed", unit);
  const summary = element("summary", {}, element("b", {}, unitName(unit)),
    element("span", { class: "what" }, rowOf(unit).name + (seed === "" ? "" : `, seed ${seed}`)),
    element("span", {}, setting("status", unit)), verdict);
  const section = element("details", { class: "unit", id: `unit-${DATA.unitNumbers[unit]}` }, summary);
  section.addEventListener("toggle", () => (section.open ? fillUnit(section, unit) : emptyUnit(section)));
  return section;
}

function emptyUnit(section) {
  section.querySelectorAll("canvas").forEach(erase);
  section.querySelector(".body")?.remove();
}

function fillUnit(section, unit) {
  if (section.querySelector(".body")) return;
  const charts = element("div", { class: "charts" });
  const table = element("details", {}, element("summary", {}, "Its checks as a table"));
  table.addEventListener("toggle", () => table.open && !table.querySelector("table") && table.append(checksTable(unit)));
  const reason = setting("reason", unit);
  section.append(element("div", { class: "body" },
    element("p", {}, DATA.unitVerdict[unit]), ...(reason ? [element("p", {}, `Reason: ${reason}`)] : []), charts, table,
    element("h4", {}, "Run and hashes"), pairs(unit, true),
    element("h4", {}, "Settings, as read back from the network and the optimizer"), pairs(unit, false)));
  if (DATA.unitKind[unit] !== "unmeasured") unitCharts(unit).forEach(([title, spec]) => addChart(charts, title, spec));
}

function pairs(unit, own) {
  const there = DATA.columns.filter((one) => one.own === own && one.values[one.index[unit]] !== "" && one.name !== "reason");
  return element("dl", { class: own ? "pairs run" : "pairs" }, ...there.map((one) => element("div", { title: one.about },
    element("dt", {}, one.name), element("dd", {}, element("code", {}, one.values[one.index[unit]])))));
}

function addChart(place, title, spec) {
  const canvas = element("canvas", { role: "img", tabIndex: 0 });
  const curves = spec.datasets.length > 1 ? spec.datasets.map((set) => element("span", {}, swatch(set.look), set.label)) : [];
  place.append(element("figure", {}, element("h3", {}, title), element("div", { class: "curves" }, ...curves),
    element("div", { class: "plot" }, canvas)));
  draw(canvas, spec);
}

function unitCharts(unit) {
  const layerLags = floats("histories", "layer_lag");
  const layers = DATA.layers.map((layer, l) => [layer, DATA.steps.map((_, i) => layerLags[(unit * CHECKS + i) * DATA.layers.length + l])]);
  const limit = [`limit ${DATA.limits.lag} σ`, DATA.steps.map(() => DATA.limits.lag)];
  const hasLag = layers.some(([, values]) => values.some(Number.isFinite));
  const one = (title, unitText, curves, extra) => [title, unitSpec(unit, title, unitText, curves, extra)];
  const accuracies = [["training mode", "acc_train"], ["evaluation mode", "acc_eval"], ["re-estimated", "reest"]]
    .map(([label, name]) => [label, history(name, unit)]);
  return [
    one("Accuracy on the validation set", "%", accuracies, { percent: true }),
    ...(hasLag ? [one("Largest lag of a running mean, by layer", "σ", [...layers, limit], { least: 0 })] : []),
    one("Norm growth of the last convolution", "×", [["norm growth", history("growth", unit)]]),
    one("Rotation of the last convolution", "° per 100 steps", [["rotation", history("rotation", unit)]], { least: 0 }),
  ];
}

function unitSpec(unit, title, unitText, curves, extra) {
  const kept = curves.filter(([, values]) => values.some(Number.isFinite));
  const datasets = kept.map(([label, values], i) => {
    const limit = label.startsWith("limit");
    const look = limit ? { colour: "#59636e", dash: [3, 3] } :
      { colour: COLOURS[i % COLOURS.length], dash: DASHES[i % DASHES.length], marker: MARKERS[i % MARKERS.length] };
    const alone = (place) => !Number.isFinite(values[place - 1]) && !Number.isFinite(values[place + 1]);
    return { label, look, data: values.map((y, place) => ({ x: DATA.steps[place], y })), borderColor: look.colour, backgroundColor: look.colour,
      borderWidth: limit ? 1 : 1.7, borderDash: look.dash, pointStyle: look.marker, quiet: limit,
      pointRadius: limit ? 0 : markers(values.length, 2 * i, alone), pointHoverRadius: limit ? 0 : 6 };
  });
  const describe = (set, i) => ({ title: `${unitName(unit)}: ${datasets[set].label}`,
    lines: [`step ${DATA.steps[i].toLocaleString("en")}: ${shown(datasets[set].data[i].y, unitText)}`] });
  return { datasets, x: { label: "training step" }, y: { label: unitText, ...extra }, about: `${title} of ${unitName(unit)}.`, describe };
}

function checksTable(unit) {
  const names = ["acc_train", "acc_eval", "gap", "reest", "lag", "var_ratio", "rotation", "growth", "drift", "loss", "lr"];
  const columns = names.map((name) => [name, history(name, unit)]).filter(([, values]) => values.some(Number.isFinite));
  const head = element("tr", {}, element("th", { scope: "col" }, "step"),
    ...columns.map(([name]) => element("th", { scope: "col", title: DATA.quantities[name][0] }, name)));
  const unitOf = (name) => DATA.quantities[name][1].replace(" per 100 steps", "");
  const told = (name, value, i) => shown(value, unitOf(name)) + channelOf(name, unit, i).replace(", channel", "");
  const cell = (name, values, i) => element("td", { class: "number" }, Number.isFinite(values[i]) ? told(name, values[i], i) : "-");
  const rows = DATA.steps.flatMap((step, i) => (columns.some(([, values]) => Number.isFinite(values[i])) ?
    [element("tr", {}, element("td", { class: "number" }, step.toLocaleString("en")),
      ...columns.map(([name, values]) => cell(name, values, i)))] : []));
  return element("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": `Checks of ${unitName(unit)}` },
    element("table", { class: "plain" }, element("thead", {}, head), element("tbody", {}, ...rows)));
}

function openUnit(unit) {
  if (!matching.includes(unit)) {
    document.getElementById("find").value = "";
    document.getElementById("picked-only").checked = false;
    listUnits();
  }
  if (matching.indexOf(unit) >= listed) listMore(matching.indexOf(unit) + 1);
  const section = document.getElementById(`unit-${DATA.unitNumbers[unit]}`);
  section.open = true;
  hideTip();
  section.scrollIntoView();
  section.firstChild.focus({ preventScroll: true });
}

// The page may be called with #unit-12.
function openAddressed() {
  const wanted = DATA.unitNumbers.findIndex((number) => location.hash === `#unit-${number}`);
  if (wanted >= 0) openUnit(wanted);
}

function startUnits() {
  document.getElementById("find").addEventListener("input", listUnits);
  document.getElementById("picked-only").addEventListener("change", listUnits);
  document.getElementById("more").addEventListener("click", () => listMore());
  onPick.push(() => document.getElementById("picked-only").checked && listUnits());
  addEventListener("hashchange", openAddressed);
  listUnits();
}
