/* A curve is drawn into a node. What comes back says where: ``spots`` are its bins along ``along``, from
   and to in the units of the drawing; ``amount`` is the scale of its values, along the other axis. */

/* A row for each category: its values as bars from zero, the weight of its rows as the shade behind. */
function drawCategories(card, shape, limits, range) {
  const names = [...shape.categories], rows = names.map((_, k) => shape.values.map(v => v[k]));
  const old = shape.before && names.map((_, k) => shape.before.values.map(v => v[k]));
  const weights = [...shape.weights], offs = shape.off && names.map((_, k) => shape.off.map(o => o[k]));
  if (shape.missing) {
    names.push("missing"); rows.push(shape.missing); weights.push(shape.missing_weight);
    if (offs) offs.push(shape.missing_off);
    if (old) old.push(shape.before.missing);
  }
  const tall = Math.max(15, 5 * shape.values.length + 5), box = {left: 112, right: 352, top: 6};
  box.bottom = box.top + tall * names.length; box.label = box.bottom + 14;
  const svg = draw("svg", card, {viewBox: "0 0 360 " + (box.label + 6), role: "img"});
  svg.setAttribute("aria-label", "values of the categories of " + shape.name);
  const [low, high] = range || span(shape, limits), x = scale(low, high, box.left, box.right);
  const says = make("div", card, "", {className: "says"});
  const most = Math.max(...weights) || 1;
  for (const t of ticks(low, high, 4))
    draw("text", svg, {x: x(t), y: box.label, "text-anchor": "middle"}, short(t));
  names.forEach((name, k) => {
    const y = box.top + tall * k;
    draw("rect", svg, {class: "density", x: box.left, y: y + tall - 3, height: 2,
      width: (box.right - box.left) * weights[k] / most});
    const label = name.length > 17 ? name.slice(0, 16) + "…" : name;
    draw("text", svg, {x: box.left - 6, y: y + tall / 2 + 3, "text-anchor": "end"}, label);
    const thick = (tall - 6) / rows[k].length;
    rows[k].forEach((value, c) => draw("rect", svg, {class: "amount " + colour(c),
      x: Math.min(x(0), x(value)), y: y + 1 + thick * c, height: thick,
      width: Math.max(0.8, Math.abs(x(value) - x(0)))}));
    const inside = v => Math.min(box.right, Math.max(box.left, x(v)));
    if (old) old[k].forEach((value, c) => draw("line", svg, {class: "before " + colour(c),
      x1: inside(value), x2: inside(value), y1: y + thick * c, y2: y + 2 + thick * (c + 1)}));
    if (offs) rows[k].forEach((value, c) => {
      const off = offs[k][c] || 0, at = y + 1 + thick * (c + 0.5);
      draw("line", svg, {class: "sure", x1: inside(value - off), x2: inside(value + off), y1: at, y2: at});
    });
    tell(draw("rect", svg, {class: "hit", x: 0, y: y, width: 360, height: tall}), says,
      name + ": " + signed(rows[k], offs && offs[k]) + ", weight of the rows " + short(weights[k]));
  });
  draw("line", svg, {class: "zero", x1: x(0), x2: x(0), y1: box.top, y2: box.bottom});
  if (shape.left_out) make("div", card, shape.left_out + " lighter categories are not drawn", {className: "says"});
  svg.addEventListener("pointerleave", () => { says.textContent = ""; });
  const spots = names.map((words, k) => ({words, bin: k < shape.kept.length ? shape.kept[k] : shape.n_bins,
    from: box.top + tall * k, to: box.top + tall * (k + 1)}));
  return {svg, says, along: "y", spots, amount: x, range: [low, high], box};
}

function drawShape(card, shape, limits, range) {
  if (shape.categories) return drawCategories(card, shape, limits, range);
  const box = {left: 46, right: shape.missing ? 312 : 352, top: 8, bottom: 150, base: 196, label: 210};
  const svg = draw("svg", card, {viewBox: "0 0 360 214", role: "img"});
  svg.setAttribute("aria-label", "shape function of " + shape.name);
  const [low, high] = shape.range;
  const x = scale(low, high, box.left, box.right);
  const [bottom, top] = range || span(shape, limits);
  const y = scale(bottom, top, box.bottom, box.top);
  frame(svg, x, y, box, ticks(low, high, shape.missing ? 4 : 5), ticks(bottom, top, 4));
  draw("line", svg, {class: "zero", x1: box.left, x2: box.right, y1: y(0), y2: y(0)});

  const cells = [low, ...shape.cells, high];
  const heights = shape.density.map((d, k) => d / ((cells[k + 1] - cells[k]) || 1));
  const most = Math.max(...heights) || 1;
  heights.forEach((height, k) => {
    const tall = (box.base - box.bottom - 8) * height / most;
    draw("rect", svg, {class: "density", x: x(cells[k]), y: box.base - tall,
      width: Math.max(0.5, x(cells[k + 1]) - x(cells[k]) - 0.5), height: tall});
  });
  draw("line", svg, {class: "axis", x1: box.left, x2: box.right, y1: box.base, y2: box.base});

  const edges = [low, ...shape.cuts, high];
  const inside = v => Math.min(box.bottom, Math.max(box.top, y(v)));
  const offs = k => shape.off && shape.off.map(o => o[k]);
  if (shape.off) shape.values.forEach((values, c) => {
    let above = "", below = "";
    values.forEach((value, k) => {
      const off = shape.off[c][k] || 0, [from, to] = [x(edges[k]), x(edges[k + 1])];
      above += "L" + from + "," + inside(value + off) + "H" + to;
      below = "L" + to + "," + inside(value - off) + "H" + from + below;
    });
    draw("path", svg, {class: "sure " + colour(c), d: "M" + above.slice(1) + below + "Z"});
  });
  const steps = (values, ends) => values.map((value, k) =>
    (k ? "V" + inside(value) : "M" + x(low) + "," + inside(value)) + "H" + x(ends[k + 1])).join("");
  shape.values.forEach((values, c) => draw("path", svg, {class: "step " + colour(c), d: steps(values, edges)}));
  if (shape.before) shape.before.values.forEach((values, c) => draw("path", svg,
    {class: "before " + colour(c), d: steps(values, [low, ...shape.before.cuts, high])}));

  const says = make("div", card, "", {className: "says"}), spots = [];
  shape.weights.forEach((weight, k) => {
    const hit = draw("rect", svg, {class: "hit", x: x(edges[k]), y: box.top,
      width: Math.max(0.5, x(edges[k + 1]) - x(edges[k])), height: box.base - box.top});
    const from = k ? "above " + short(edges[k]) : "";
    const to = k < shape.cuts.length ? "up to " + short(edges[k + 1]) : "";
    const where = [from, to].filter(Boolean).join(", ") || "everywhere";
    tell(hit, says, where + ": " + signed(shape.values.map(v => v[k]), offs(k)) +
      ", weight of the rows " + short(weight));
    spots.push({bin: k, words: where, from: x(edges[k]), to: x(edges[k + 1])});
  });
  if (shape.missing) {
    shape.missing.forEach((value, c) => {
      const off = shape.missing_off && shape.missing_off[c] || 0;
      draw("line", svg, {class: "sure " + colour(c), x1: 338, x2: 338, y1: inside(value - off), y2: inside(value + off)});
      draw("circle", svg, {class: "dot " + colour(c), cx: 338, cy: y(value), r: 4});
      if (shape.before) draw("circle", svg, {class: "before " + colour(c), cx: 338, cy: inside(shape.before.missing[c]), r: 4});
    });
    draw("text", svg, {x: 338, y: box.label, "text-anchor": "middle"}, "missing");
    tell(draw("rect", svg, {class: "hit", x: 318, y: box.top, width: 40, height: box.base - box.top}),
      says, "missing: " + signed(shape.missing, shape.missing_off) + ", weight of the rows " + short(shape.missing_weight));
    spots.push({bin: shape.n_bins, words: "missing", from: 320, to: 356});
  }
  svg.addEventListener("pointerleave", () => { says.textContent = ""; });
  return {svg, says, along: "x", spots, amount: y, range: [bottom, top], box, place: x};
}
