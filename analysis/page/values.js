"use strict";
// The page's data: numbers are base64 of 32-bit floats, [unit, check] or [unit]; texts stand in columns of distinct values.

const DATA = JSON.parse(document.getElementById("data").textContent);
const CHECKS = DATA.steps.length;
const UNITS = DATA.unitRow.length;

const decoded = {};
function floats(group, name) {
  const key = group + "/" + name;
  if (!decoded[key]) {
    const bytes = Uint8Array.from(atob(DATA[group][name]), (c) => c.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    decoded[key] = Float32Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(4 * i, true));
  }
  return decoded[key];
}

// A quantity of one unit at every check, in the unit that is shown.
function history(name, unit) {
  const factor = DATA.quantities[name] ? DATA.quantities[name][2] : 1;
  const part = (which) => floats("histories", which).subarray(unit * CHECKS, (unit + 1) * CHECKS);
  const trained = name === "gap" ? part("acc_train") : null;
  const made = { gap: (v, i) => trained[i] - v, error: (v) => 1 - v, lag: Math.abs }[name] || ((v) => v);
  return Array.from(part(name === "gap" || name === "error" ? "acc_eval" : name), (v, i) => factor * made(v, i));
}

function measure(name, unit) {
  return DATA.measureLabels[name][2] * floats("measures", name)[unit];
}

function column(name) {
  return DATA.columns.find((one) => one.name === name);
}

function setting(name, unit) {
  const found = column(name);
  return found ? found.values[found.index[unit]] : "";
}

function rowOf(unit) {
  return DATA.rows[DATA.unitRow[unit]];
}

function unitName(unit) {
  return `unit ${DATA.unitNumbers[unit]}`;
}

function shown(value, unit) {
  if (!Number.isFinite(value)) return "not measured";
  const size = Math.abs(value);
  const digits = size !== 0 && (size < 1e-3 || size >= 1e5) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
  return digits + (unit === "" ? "" : unit === "%" || unit === "×" || unit.startsWith("°") ? unit : " " + unit);
}

function titled([label, unit]) {
  return unit ? `${label} (${unit})` : label;
}

// An element with text, never markup.
function element(tag, properties, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name === "class") made.className = value;
    else if (name.includes("-") || name === "role" || name === "scope" || name === "for") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}
