/* A curve is drawn into a node. What comes back says where: ``spots`` are its bins along ``along``, from
   and to in the units of the drawing; ``amount`` is the scale of its values, along the other axis. */

/* A row for each category: its values as bars from zero, the weight of its rows as the shade behind. */
function drawCategories(card, shape, limits, range) {
  const names = [...shape.categories], rows = names.map((_, k) => shape.values.map(v => v[k]));
  const weights = [...shape.weights];
  if (shape.missing) { names.push("missing"); rows.push(shape.missing); weights.push(shape.missing_weight); }
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
    tell(draw("rect", svg, {class: "hit", x: 0, y: y, width: 360, height: tall}), says,
      name + ": " + signed(rows[k]) + ", weight of the rows " + short(weights[k]));
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
  shape.values.forEach((values, c) => {
    let path = "";
    values.forEach((value, k) => {
      path += (k ? "V" + y(value) : "M" + x(low) + "," + y(value)) + "H" + x(edges[k + 1]);
    });
    draw("path", svg, {class: "step " + colour(c), d: path});
  });

  const says = make("div", card, "", {className: "says"}), spots = [];
  shape.weights.forEach((weight, k) => {
    const hit = draw("rect", svg, {class: "hit", x: x(edges[k]), y: box.top,
      width: Math.max(0.5, x(edges[k + 1]) - x(edges[k])), height: box.base - box.top});
    const from = k ? "above " + short(edges[k]) : "";
    const to = k < shape.cuts.length ? "up to " + short(edges[k + 1]) : "";
    const where = [from, to].filter(Boolean).join(", ") || "everywhere";
    tell(hit, says, where + ": " + signed(shape.values.map(v => v[k])) +
      ", weight of the rows " + short(weight));
    spots.push({bin: k, words: where, from: x(edges[k]), to: x(edges[k + 1])});
  });
  if (shape.missing) {
    shape.missing.forEach((value, c) =>
      draw("circle", svg, {class: "dot " + colour(c), cx: 338, cy: y(value), r: 4}));
    draw("text", svg, {x: 338, y: box.label, "text-anchor": "middle"}, "missing");
    tell(draw("rect", svg, {class: "hit", x: 318, y: box.top, width: 40, height: box.base - box.top}),
      says, "missing: " + signed(shape.missing) + ", weight of the rows " + short(shape.missing_weight));
    spots.push({bin: shape.n_bins, words: "missing", from: 320, to: 356});
  }
  svg.addEventListener("pointerleave", () => { says.textContent = ""; });
  return {svg, says, along: "x", spots, amount: y, range: [bottom, top], box, place: x};
}
