// The two plots: a quantity over the steps, and one number of each unit against another.

const NO_ZERO = " Values of 0 and below have no place on a log axis.";
const MOST_LINES = 40; // above this many units a row is drawn as its median and range

function value(id) {
  return document.getElementById(id).value;
}

function checked(id) {
  return document.getElementById(id).checked;
}

function styleOf(row, extra) {
  const { colour, dash, marker } = looks[row];
  return { borderColor: colour, backgroundColor: colour, pointBackgroundColor: colour, pointBorderColor: colour, borderDash: dash, pointStyle: marker,
    borderWidth: 1.6, pointHoverRadius: 6, ...extra };
}

// Markers on some of the points only, at other ones for each line, so that lines can be told apart where they are many.
function markers(length, shift, alone) {
  const every = Math.max(1, Math.ceil(length / 9));
  return Array.from({ length }, (_, i) => (alone(i) || (i + shift) % every === 0 ? 3.5 : 0));
}

function line(values, row, shift, extra) {
  const data = values.map((y, i) => ({ x: DATA.steps[i], y }));
  const alone = (i) => !Number.isFinite(values[i - 1]) && !Number.isFinite(values[i + 1]);
  return styleOf(row, { data, pointRadius: markers(values.length, shift, alone), ...extra });
}

function settingsLines(unit) {
  const told = ["optimizer", "lr", "schedule", "radial", ...DATA.keys, "seed"];
  const said = [...new Set(told)].filter((name) => setting(name, unit) !== "").map((name) => `${name} ${setting(name, unit)}`);
  return [said.join(", "), `status: ${setting("status", unit)}`];
}

function describeUnit(unit, ...first) {
  return { title: `${unitName(unit)}: ${rowOf(unit).name}`, lines: [...first, ...settingsLines(unit)] };
}

function quantiles(values) {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  if (!sorted.length) return [NaN, NaN, NaN];
  const middle = (sorted.length - 1) / 2;
  return [sorted[0], (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2, sorted[sorted.length - 1]];
}

function unitLines(units, name) {
  return units.map((unit, i) => line(history(name, unit), DATA.unitRow[unit], i, { unit }));
}

function medianLines(name) {
  return [...picked].sort((a, b) => a - b).flatMap((row, shift) => {
    const units = DATA.unitRow.flatMap((one, unit) => (one === row ? [unit] : []));
    const all = units.map((unit) => history(name, unit));
    const bands = DATA.steps.map((_, i) => quantiles(all.map((values) => values[i])));
    const edge = { quiet: true, borderWidth: 0, pointRadius: 0, pointHoverRadius: 0 };
    const middle = line(bands.map((band) => band[1]), row, shift, { row, bands, units: units.length, borderWidth: 2.2 });
    if (units.length === 1) return [middle];
    return [line(bands.map((band) => band[0]), row, 0, { ...edge, pointRadius: 0 }),
      line(bands.map((band) => band[2]), row, 0, { ...edge, pointRadius: 0, fill: "-1", backgroundColor: fade(looks[row].colour, 0.13) }), middle];
  });
}

function drawSteps() {
  const name = value("quantity");
  const [label, unit] = DATA.quantities[name];
  const units = pickedUnits();
  const medians = value("lines") === "median" || (value("lines") === "auto" && units.length > MOST_LINES);
  const datasets = medians ? medianLines(name) : unitLines(units, name);
  const logY = checked("steps-log-y");
  draw(document.getElementById("over-steps"), {
    datasets,
    x: { label: "training step", log: checked("steps-log-x") },
    y: { label: titled([label, unit]), log: logY, percent: unit === "%" && !logY, least: name === "lag" ? 0 : undefined },
    about: `${label} over the training steps, ${medians ? "median and range of each of" : "one line a unit of"} ${picked.size} rows.`,
    describe: (set, i) => {
      const there = datasets[set];
      const at = `step ${DATA.steps[i].toLocaleString("en")}: `;
      if (there.unit === undefined) {
        const [low, middle, high] = there.bands[i].map((one) => shown(one, unit));
        return { title: DATA.rows[there.row].name, lines: [`${at}median ${middle}, range ${low} to ${high}`, `${label}; ${there.units} units`] };
      }
      return describeUnit(there.unit, at + shown(there.data[i].y, unit), label + channelOf(name, there.unit, i));
    },
    open: (set) => datasets[set].unit !== undefined && openUnit(datasets[set].unit),
  });
  const empty = datasets.every((set) => !set.data.some((point) => Number.isFinite(point.y)));
  const lines = medians ? "Each line is the median of a row's units, its band their range." :
    "Each line is a unit; click it to open the unit's section.";
  note("over-steps-note", picked.size === 0 ? "No arm is shown: choose some above." :
    empty ? `Nothing of this quantity is measured in what is shown${logY ? " above 0" : ""}.` : lines + (logY ? NO_ZERO : ""));
}

function channelOf(name, unit, check) {
  const which = { lag: "lag_channel", var_ratio: "var_channel" }[name];
  const channel = which ? floats("histories", which)[unit * CHECKS + check] : NaN;
  return Number.isFinite(channel) ? `, channel ${DATA.channels[channel]}` : "";
}

function drawPairs() {
  const [across, up] = [value("across"), value("up")];
  const [x, y] = [DATA.measureLabels[across], DATA.measureLabels[up]];
  const [logX, logY] = [checked("pairs-log-x"), checked("pairs-log-y")];
  const datasets = [...picked].sort((a, b) => a - b).map((row) => {
    const units = DATA.unitRow.flatMap((one, unit) => (one === row ? [unit] : []));
    const fill = units.map((unit) => (setting("status", unit) === "done" ? looks[row].colour : "#ffffff"));
    return styleOf(row, { showLine: false, pointRadius: 5.5, pointHoverRadius: 8, pointBackgroundColor: fill, pointBorderWidth: 1.6, units,
      data: units.map((unit) => ({ x: measure(across, unit), y: measure(up, unit) })) });
  });
  draw(document.getElementById("pairs"), {
    datasets,
    x: { label: titled(x), log: logX, percent: x[1] === "%" },
    y: { label: titled(y), log: logY, percent: y[1] === "%", wrap: true },
    about: `${y[0]} against ${x[0]}, a point for each unit of ${picked.size} rows.`,
    describe: (set, i) => describeUnit(datasets[set].units[i], `${x[0]}: ${shown(datasets[set].data[i].x, x[1])}`,
      `${y[0]}: ${shown(datasets[set].data[i].y, y[1])}`),
    open: (set, i) => openUnit(datasets[set].units[i]),
  });
  note("pairs-note", "Each point is a unit, hollow while it is not done; click it to open the unit's section." + (logX || logY ? NO_ZERO : ""));
}

function note(id, text) {
  document.getElementById(id).textContent = text;
}

function startPlots() {
  const fill = (id, labels, chosen) => {
    const select = document.getElementById(id);
    for (const [name, pair] of Object.entries(labels)) select.append(element("option", { value: name, selected: name === chosen }, titled(pair)));
  };
  fill("quantity", DATA.quantities, "acc_eval");
  fill("across", DATA.measureLabels, "rotation");
  fill("up", DATA.measureLabels, "acc_eval");
  for (const id of ["quantity", "lines", "steps-log-x", "steps-log-y"]) document.getElementById(id).addEventListener("change", drawSteps);
  for (const id of ["across", "up", "pairs-log-x", "pairs-log-y"]) document.getElementById(id).addEventListener("change", drawPairs);
  onPick.push(drawSteps, drawPairs);
}
