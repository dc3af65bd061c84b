"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const NS = "http://www.w3.org/2000/svg";

function make(tag, parent, text, attributes) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  Object.assign(node, attributes || {});
  if (parent) parent.append(node);
  return node;
}
function draw(tag, parent, attributes, text) {
  const node = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}
function short(x) {
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-4) return x.toExponential(2).replace(/\.?0+e/, "e");
  return String(Number(x.toPrecision(4)));
}
function percent(x) { return (100 * x).toFixed(x < 0.0995 ? 2 : 1) + " %"; }

/* Round numbers inside [low, high], about n of them. */
function ticks(low, high, n) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const unit = 10 ** Math.floor(Math.log10(span / n));
  const step = [1, 2, 5, 10].map(k => k * unit).find(s => span / s <= n) || 10 * unit;
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high * (1 + 1e-12) + 1e-300; k++) {
    found.push(k * step);
    if (found.length > 20) break;
  }
  return found;
}
function scale(low, high, from, to) {
  const span = high / 2 - low / 2 || 1;  // of the largest numbers, too
  return x => from + (to - from) * ((x / 2 - low / 2) / span);
}
function frame(svg, x, y, box, xs, ys) {
  for (const t of ys) {
    draw("line", svg, {class: "axis", x1: box.left, x2: box.right, y1: y(t), y2: y(t)});
    draw("text", svg, {x: box.left - 5, y: y(t) + 4, "text-anchor": "end"}, short(t));
  }
  for (const t of xs)
    draw("text", svg, {x: x(t), y: box.label, "text-anchor": "middle"}, short(t));
}

/* Classes take turns with six colours. */
function colour(k) { return "k" + k % 6; }
function signed(values, offs) {
  return values.map((value, k) => (data.classes ? data.classes[k] + " " : "") +
    (value > 0 ? "+" : "") + short(value) + (offs ? " ± " + short(offs[k] ?? NaN) : "")).join(", ");
}
function flat(shape) { return shape.values.flat().concat(shape.missing || []); }
function span(shape, limits) {
  let [bottom, top] = limits || [0, 0];
  if (!limits) for (const v of flat(shape)) { bottom = Math.min(bottom, v); top = Math.max(top, v); }
  if (bottom === top) { bottom -= 1; top += 1; }
  const room = 0.06 * (top - bottom);
  return [bottom - room, top + room];
}
function tell(hit, says, text) { hit.addEventListener("pointerenter", () => { says.textContent = text; }); }
