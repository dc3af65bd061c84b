/* Axes for points (x, y), with room for labels. */
function chart(parent, title, xs, ys, names) {
  const box = {left: 62, right: 452, top: 8, bottom: 220, label: 238};
  const svg = draw("svg", parent, {viewBox: "0 0 460 262", role: "img", "aria-label": title});
  const x = scale(...xs, box.left, box.right), y = scale(...ys, box.bottom, box.top);
  frame(svg, x, y, box, ticks(...xs, 5), ticks(...ys, 5));
  draw("text", svg, {x: (box.left + box.right) / 2, y: 256, "text-anchor": "middle"}, names[0]);
  draw("text", svg, {transform: "translate(12 " + (box.top + box.bottom) / 2 + ") rotate(-90)",
    "text-anchor": "middle"}, names[1]);
  return {svg, x, y, box, says: make("div", parent, "", {className: "says"})};
}
/* An interval around numbers, with a little room. */
function around(numbers) {
  const known = numbers.filter(x => x !== null);
  const low = Math.min(...known), high = Math.max(...known);
  const room = 0.04 * (high - low) || Math.abs(high) / 2 || 1;
  return [low - room, high + room];
}
function picture(title, text) {
  const card = make("figure", $("pictures"), undefined, {className: "picture"});
  make("h3", card, title);
  make("p", card, text, {className: "faint"});
  return card;
}
function numbersOf(card, head, rows) {
  const more = make("details", card);
  make("summary", more, "Numbers");
  fillTable(make("table", make("div", more, undefined, {className: "scroll"})), head, rows);
}
function drawCalibration(card, points, classes) {
  const shares = classes !== null;
  const both = points.flatMap(p => [p.predicted, p.observed, p.low, p.high]);
  const limits = shares ? [0, Math.min(1, 1.02 * Math.max(...both))] : around(both);
  const {svg, x, y, box, says} = chart(card, "calibration", limits, limits,
    ["mean prediction", shares ? "share of the rows" : "mean of the rows"]);
  draw("line", svg, {class: "zero", x1: x(limits[0]), y1: y(limits[0]), x2: x(limits[1]), y2: y(limits[1])});
  const fit = v => Math.min(box.bottom, Math.max(box.top, v));
  for (const p of points) {
    draw("line", svg, {class: "interval", x1: x(p.predicted), x2: x(p.predicted), y1: fit(y(p.low)), y2: fit(y(p.high))});
    draw("circle", svg, {class: "dot", cx: x(p.predicted), cy: y(p.observed), r: 3.5});
    tell(draw("circle", svg, {class: "hit", cx: x(p.predicted), cy: y(p.observed), r: 12}), says,
      "predicted " + short(p.predicted) + ", found " + short(p.observed) + " (95 %: " + short(p.low) +
      " to " + short(p.high) + "), " + p.rows + " rows");
  }
  numbersOf(card, ["predicted", "found", "from", "to", "rows"],
    points.map(p => [p.predicted, p.observed, p.low, p.high, p.rows]));
}
function drawLift(card, lift) {
  const {svg, x, y, box, says} = chart(card, "lift", [0, 1], [0, 1],
    ["share of the rows, largest predictions first", "share of what is to be found"]);
  draw("line", svg, {class: "zero", x1: x(0), y1: y(0), x2: x(1), y2: y(1)});
  draw("path", svg, {class: "best", d: "M" + x(0) + "," + y(0) + "L" + x(lift.share) + "," + y(1) + "H" + x(1)});
  draw("path", svg, {class: "step", d: "M" + x(0) + "," + y(0) +
    lift.rows.map((share, k) => "L" + x(share) + "," + y(lift.found[k])).join("")});
  let before = 0;
  lift.rows.forEach((share, k) => {
    tell(draw("rect", svg, {class: "hit", x: x(before), y: box.top, width: Math.max(0.5, x(share) - x(before)),
      height: box.bottom - box.top}), says, percent(share) + " of the rows (predictions from " +
      short(lift.least[k]) + ") have " + percent(lift.found[k]) + ": " + short(lift.found[k] / share) + " times as many");
    before = share;
  });
}
function drawResiduals(card, groups) {
  const [lowest, low, middle, high, highest] = [0, 1, 2, 3, 4].map(k => groups.map(g => g.quantiles[k]));
  const at = groups.map(g => g.predicted);
  const {svg, x, y, box, says} = chart(card, "residuals", around(at), around([...lowest, ...highest, 0]),
    ["prediction", "label less prediction"]);
  const band = (a, b) => "M" + at.map((p, k) => x(p) + "," + y(b[k])).join("L") +
    "L" + at.map((p, k) => x(p) + "," + y(a[k])).reverse().join("L") + "Z";
  draw("path", svg, {class: "band", d: band(lowest, highest)});
  draw("path", svg, {class: "band", d: band(low, high)});
  draw("path", svg, {class: "step", d: "M" + at.map((p, k) => x(p) + "," + y(middle[k])).join("L")});
  draw("line", svg, {class: "zero", x1: box.left, x2: box.right, y1: y(0), y2: y(0)});
  groups.forEach((g, k) => {
    const from = k ? x((at[k - 1] + at[k]) / 2) : box.left;
    const to = k < at.length - 1 ? x((at[k] + at[k + 1]) / 2) : box.right;
    if (at.length === 1) draw("circle", svg, {class: "dot", cx: x(at[k]), cy: y(middle[k]), r: 3.5});
    tell(draw("rect", svg, {class: "hit", x: from, y: box.top, width: Math.max(0.5, to - from),
      height: box.bottom - box.top}), says, "predictions around " + short(g.predicted) + ": half from " +
      short(low[k]) + " to " + short(high[k]) + ", nine tenths from " + short(lowest[k]) + " to " +
      short(highest[k]) + ", " + g.rows + " rows");
  });
  numbersOf(card, ["prediction", "5 %", "25 %", "half", "75 %", "95 %", "rows"],
    groups.map(g => [g.predicted, ...g.quantiles, g.rows]));
}
/* A picture for one of several classes at a time. */
function byClass(card, names, drawOne) {
  const place = make("div");
  if (names && names.length > 1) {
    const choice = make("select", make("label", card, "class "), undefined, {className: "class"});
    names.forEach((name, k) => make("option", choice, name, {value: k}));
    choice.addEventListener("change", () => { place.replaceChildren(); drawOne(place, Number(choice.value)); });
  }
  card.append(place);
  drawOne(place, 0);
}
{
  const found = data.performance, names = found.outputs;
  $("judged").textContent = found.rows.toLocaleString("en");
  const better = {up: "higher", down: "lower", "": ""};
  fillTable($("measures"), ["", "model", "constant", "better"],
    found.measures.map(m => [m.name, m.value, m.constant, better[m.better]]));
  if (found.classes) {
    $("by_class").hidden = false;
    fillTable($("by_class"), ["class", "rows", "share", "mean probability", "found of its rows",
      "right when it is predicted", "area under the ROC curve"],
      found.classes.map(c => [c.name, c.rows, c.share, c.predicted, c.found, c.right, c.area]));
  }
  const one = names && names.length === 1 ? " of class " + names[0] : "";
  if (found.calibration.length)
    byClass(picture("Calibration", "Rows with similar predictions" + one + " are put together. On the dashed line " +
      "predictions are right on average; bars are intervals of 95 %."), names,
      (place, k) => drawCalibration(place, found.calibration[k], names));
  if (found.lift && found.lift.rows.length)
    drawLift(picture("Lift", "Whoever looks at the rows with the largest predictions first finds so much of class " +
      names[0] + ". Dashed: in any order. Thin: the best there could be."), found.lift);
  if (found.residuals)
    drawResiduals(picture("Residuals", "How far labels are from predictions, for rows with similar predictions: " +
      "the middle one (line), half of them (dark), nine tenths (light)."), found.residuals);
}
