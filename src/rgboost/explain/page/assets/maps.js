/* Where the bins of an axis lie between two places: numbers to scale, categories side by side. */
function places(axis, from, to) {
  const sign = Math.sign(to - from), strip = axis.missing ? 14 : 0, end = to - sign * (strip ? strip + 4 : 0);
  const found = [], n = axis.categories ? axis.categories.length : axis.cuts.length + 1;
  const x = axis.categories ? scale(0, n, from, end) : scale(axis.range[0], axis.range[1], from, end);
  const edges = axis.categories ? [...Array(n + 1).keys()] : [axis.range[0], ...axis.cuts, axis.range[1]];
  for (let k = 0; k < n; k++) {
    const low = axis.cuts.length && k ? "above " + short(edges[k]) : "";
    const high = axis.cuts.length && k < n - 1 ? "up to " + short(edges[k + 1]) : "";
    const words = axis.categories ? axis.categories[k] : [low, high].filter(Boolean).join(", ") || "any";
    found.push({from: x(edges[k]), to: x(edges[k + 1]), words});
  }
  if (axis.missing) found.push({from: to - sign * strip, to, words: "missing", missing: true});
  return found;
}
function inside(spans, place) {
  return spans.findIndex(s => Math.min(s.from, s.to) <= place && place <= Math.max(s.from, s.to));
}
/* Whether training rows are in a cell, or in its neighbours along axes of numbers. */
function isNear(pair, across, up, i, j) {
  const reach = (axis, spans, k) => axis.categories || spans[k].missing ? [k]
    : [k - 1, k, k + 1].filter(m => m >= 0 && m < spans.length && !spans[m].missing);
  return reach(pair.axes[0], across, i).some(a =>
    reach(pair.axes[1], up, j).some(b => pair.weights[a * up.length + b] > 0));
}
function channels(name) {
  const text = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return [1, 3, 5].map(k => parseInt(text.slice(k, k + 2), 16));
}
/* A map of a pair, the first feature from left to right, the second from bottom to top. */
function drawPair(card, pair, limits, c = 0) {
  card.querySelectorAll("canvas, .says").forEach(node => node.remove());
  const [first, second] = pair.axes, wide = 360, tall = 256;
  const canvas = make("canvas", card, undefined, {width: 2 * wide, height: 2 * tall});
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "heat map of " + pair.name);
  const says = make("div", card, "", {className: "says"}), pen = canvas.getContext("2d");
  const box = {left: second.categories || second.missing ? 96 : 48, right: 352, top: 8, bottom: 190};
  const across = places(first, box.left, box.right), up = places(second, box.bottom, box.top);
  const whole = $("whole").checked;
  const value = (i, j, k = c) => {
    const own = pair.values[k][i * up.length + j];
    return own === null ? null : own * pair.unit + (whole ? first.curve[k][i] + second.curve[k][j] : 0);
  };
  const most = (limits ? Math.max(-limits[0], limits[1]) : pair.most[c][whole ? 1 : 0]) || 1;
  const plus = channels("--line"), minus = channels("--second"), none = channels("--paper");
  const shade = (v, alpha) => {
    if (v === null) return "rgba(128,128,128," + alpha + ")";
    const share = Math.min(1, Math.abs(v) / most), full = v > 0 ? plus : minus;
    return "rgba(" + none.map((z, k) => Math.round(z + share * (full[k] - z))) + "," + alpha + ")";
  };
  pen.scale(2, 2);
  across.forEach((x, i) => up.forEach((y, j) => {
    pen.fillStyle = shade(value(i, j), isNear(pair, across, up, i, j) ? 1 : 0.15);
    const [a, b, top, end] = [x.from, x.to, y.to, y.from].map(z => Math.round(2 * z) / 2);  // no seams
    pen.fillRect(a, top, b - a, end - top);
  }));
  const ink = getComputedStyle(card).getPropertyValue("--faint");
  pen.fillStyle = ink; pen.font = "11px system-ui, sans-serif";
  const cut = (text, n) => text.length > n ? text.slice(0, n - 1) + "…" : text;
  const write = (text, x, y, align, room) => { pen.textAlign = align; pen.fillText(text, x, y, room); };
  for (const [axis, spans, lies] of [[first, across, true], [second, up, false]]) {
    const numbers = spans.filter(s => !s.missing);
    if (!axis.categories) {
      const [low, high] = axis.range, at = scale(low, high, numbers[0].from, numbers[numbers.length - 1].to);
      for (const t of ticks(low, high, 4))
        lies ? write(short(t), at(t), box.bottom + 14, "center") : write(short(t), box.left - 5, at(t) + 4, "right");
    }
    spans.forEach(s => {
      if (!axis.categories && !s.missing) return;
      const middle = (s.from + s.to) / 2, room = Math.abs(s.to - s.from);
      if (!lies) write(cut(s.words, 15), box.left - 5, middle + 4, "right");
      else if (axis.categories) write(cut(s.words, Math.max(2, Math.floor(room / 6))), middle, box.bottom + 14, "center", room);
      else write(s.words, box.right, box.bottom + 27, "right");
    });
  }
  write(cut(first.name, 36), (box.left + box.right) / 2, box.bottom + 32, "center");
  write("up: " + cut(second.name, 22), 4, tall - 10, "left");
  for (let k = -40; k < 40; k++) {
    pen.fillStyle = shade(k / 40 * most, 1);
    pen.fillRect(230 + k + 40, tall - 20, 1.2, 10);
  }
  pen.fillStyle = ink;
  write(short(-most), 226, tall - 11, "right");
  write("+" + short(most), 314, tall - 11, "left");
  canvas.addEventListener("pointermove", event => {
    const at = canvas.getBoundingClientRect();
    const i = inside(across, (event.clientX - at.left) * wide / at.width);
    const j = inside(up, (event.clientY - at.top) * tall / at.height);
    if (i < 0 || j < 0) { says.textContent = ""; return; }
    const all = pair.values.map((_, k) => value(i, j, k) ?? NaN);
    const offs = pair.off && !whole ? pair.off.map(o => o[i * up.length + j] * pair.unit) : null;
    says.textContent = first.name + ": " + across[i].words + "; " + second.name + ": " + up[j].words +
      ": " + signed(all, offs) + ", weight of the rows " + short(pair.weights[i * up.length + j]);
  });
  canvas.addEventListener("pointerleave", () => { says.textContent = ""; });
  const lost = first.left_out + second.left_out;
  if (lost) make("div", card, lost + " lighter categories are not drawn", {className: "says"});
}
/* With several classes, one map at a time. */
function chooseClass(card, entry) {
  const choice = make("select", make("label", card, "class "), undefined, {className: "class"});
  data.classes.forEach((name, k) => make("option", choice, name, {value: k}));
  choice.addEventListener("change", () => drawPair(card, entry.shape, limits, Number(choice.value)));
  return choice;
}
