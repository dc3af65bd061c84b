/* Changes of curves: what was changed, how it is shown, and how it leaves the page. */
const changes = new Map();     // term -> {entry, term, before: its values, reason}
let editing = false, chosen = null;  // chosen: {entry, from, to, c}, spots of a drawing and a class
const curveOf = new Map(data.model.terms.flatMap((stored, t) =>
  stored.inputs.length === 1 ? [[data.inputs[stored.inputs[0]].feature, model.terms[t]]] : []));
const C = model.intercept.length;

/* Every curve is marked where the what-if is, and where it was before it was changed. */
whenDrawn.push(entry => {
  if (entry.shape.axes) return;
  entry.term = curveOf.get(entry.shape.feature);
  entry.over = draw("g", entry.drawing.svg, {class: "over"});
  mark(entry);
  if (editing) prepare(entry);
});
whenAnswered.push(() => { for (const entry of cards) if (entry.over && entry.over.isConnected) mark(entry); });
const middle = spot => (spot.from + spot.to) / 2;
function amountOf(entry, values, bin, c) { return entry.drawing.amount(values[bin * C + c] - entry.term.mean[c]); }
function mark(entry) {
  const {over, drawing, term} = entry, {spots, box} = drawing, flat = drawing.along === "x";
  over.replaceChildren();
  if (chosen && chosen.entry === entry) {
    const [a, b] = ends(chosen), from = spots[a].from, to = spots[b].to;
    draw("rect", over, flat
      ? {class: "chosen", x: from - 1, width: Math.max(2, to - from + 2), y: box.top, height: box.bottom - box.top}
      : {class: "chosen", y: from, height: to - from, x: box.left, width: box.right - box.left});
  }
  const changed = changes.get(term);
  if (changed) for (let c = 0; c < C; c++) {
    let path = "";
    spots.forEach((spot, k) => {
      const at = amountOf(entry, changed.before, spot.bin, c);
      const joined = k && Math.abs(spots[k - 1].to - spot.from) < 0.01;
      path += flat ? (joined ? "V" + at : "M" + spot.from + "," + at) + "H" + spot.to
                   : "M" + at + "," + (spot.from + 1) + "V" + (spot.to - 4);
    });
    draw("path", over, {class: "before " + colour(c), d: path});
  }
  const i = term.inputs[0], bin = binOf(term.axes[0], row[i]), spot = spots.find(s => s.bin === bin);
  if (spot) for (let c = 0; c < C; c++) {
    const at = amountOf(entry, term.values, bin, c);
    const exact = drawing.place && bin < entry.shape.n_bins
      ? Math.min(spot.to, Math.max(spot.from, drawing.place(row[i]))) : middle(spot);
    draw("circle", over, {class: "here " + colour(c), cx: flat ? exact : at, cy: flat ? at : middle(spot) - 1, r: 4});
  }
}
const ends = ({from, to}) => [Math.min(from, to), Math.max(from, to)];

/* Make a drawing answer to the keyboard, and tell what is chosen. */
function prepare(entry) {
  const {plot, drawing} = entry;
  plot.classList.add("editable");
  plot.tabIndex = 0;
  plot.setAttribute("role", "slider");
  plot.setAttribute("aria-label", "curve of " + entry.shape.name + ", choose and move its steps");
  plot.setAttribute("aria-orientation", drawing.along === "x" ? "vertical" : "horizontal");
  if (!entry.told || !entry.told.isConnected) entry.told = make("div", plot, "", {className: "says told"});
  describe(entry);
}
function describe(entry) {
  const {plot, drawing, term} = entry, mine = chosen && chosen.entry === entry;
  const [a, b] = mine ? ends(chosen) : [0, 0], spot = drawing.spots[a], c = mine ? chosen.c : 0;
  const value = term.values[spot.bin * C + c] - term.mean[c];
  const where = a === b ? spot.words : spot.words + " … " + drawing.spots[b].words;
  plot.setAttribute("aria-valuemin", short(drawing.range[0]));
  plot.setAttribute("aria-valuemax", short(drawing.range[1]));
  plot.setAttribute("aria-valuenow", short(value));
  plot.setAttribute("aria-valuetext", where + ": " + short(value));
  entry.told.textContent = !mine ? "" : "Chosen: " + (b > a ? b - a + 1 + " steps, " : "") + where + ": " +
    (data.classes ? data.classes[c] + " " : "") + (value > 0 ? "+" : "") + short(value);
}
/* Choose spots of a drawing. */
function choose(entry, from, to, c) {
  const before = chosen;
  chosen = {entry, from, to, c: c ?? (before && before.entry === entry ? before.c : 0)};
  if (before && before.entry !== entry && before.entry.over) { mark(before.entry); describe(before.entry); }
  mark(entry);
  describe(entry);
}

/* Values of the chosen spots: ``wanted`` gives a value, less the mean, for each of them. */
function change(wanted, frame) {
  const {entry, c} = chosen, {term, shape} = entry, [a, b] = ends(chosen);
  if (!changes.has(term)) {
    changes.set(term, {entry, before: term.values.slice(), reason: "", off: shape.off, missing_off: shape.missing_off});
    shape.off = shape.missing_off = null;  // nobody knows how sure a curve is that was drawn by hand
  }
  for (let s = a; s <= b; s++) {
    const bin = entry.drawing.spots[s].bin, value = wanted(s);
    term.values[bin * C + c] = value === null ? changes.get(term).before[bin * C + c] : value + term.mean[c];
    show(shape, term, bin, c);
  }
  const {before} = changes.get(term);
  if (term.values.every((v, k) => v === before[k])) undo(term);
  else refresh(entry, frame);
}
/* The drawn value of a bin. */
function show(shape, term, bin, c) {
  const value = term.values[bin * C + c] - term.mean[c];
  if (bin === shape.n_bins) { if (shape.missing) shape.missing[c] = value; return; }
  const k = shape.kept ? shape.kept.indexOf(bin) : bin;
  if (k >= 0) shape.values[c][k] = value;
}
function undo(term) {
  const {entry, before, off, missing_off} = changes.get(term);
  term.values.set(before);
  Object.assign(entry.shape, {off, missing_off});
  changes.delete(term);
  for (let bin = 0; bin <= entry.shape.n_bins; bin++) for (let c = 0; c < C; c++) show(entry.shape, term, bin, c);
  refresh(entry);
}
function refresh(entry, frame) {
  drawTerm(entry, frame);
  if (chosen && chosen.entry === entry) describe(entry);
  answer();
  listChanges();
}

/* What was changed, as rgboost edit reads it: runs of bins next to each other. */
function editsOf(term, {before, reason, entry}) {
  const found = [], n = term.values.length / C;
  for (let c = 0; c < C; c++) {
    for (let bin = 0; bin < n; bin++) {
      if (term.values[bin * C + c] === before[bin * C + c]) continue;
      let last = bin;
      while (last + 1 < n && term.values[(last + 1) * C + c] !== before[(last + 1) * C + c]) last++;
      const values = [];
      for (let k = bin; k <= last; k++) values.push(term.values[k * C + c]);
      const one = {term: [entry.shape.name], do: "set", bins: [bin, last],
        value: values.every(v => v === values[0]) ? values[0] : values, reason};
      found.push(C > 1 ? {...one, class: c} : one);
      bin = last;
    }
  }
  return found;
}
function documentOf() {
  return {...data.edits, edits: [...changes].flatMap(([term, changed]) => editsOf(term, changed))};
}
function listChanges() {
  $("edits").hidden = $("to_edits").hidden = !changes.size;
  $("to_edits").textContent = changes.size + (changes.size === 1 ? " curve changed" : " curves changed") + ": review and download";
  const lines = new Map([...$("edit_table").querySelectorAll("tr")].map(line => [line.term, line]));
  for (const [term, line] of lines) if (!changes.has(term)) line.remove();
  for (const [term, changed] of changes) {
    const line = lines.get(term) || newLine(term, changed);
    const n = editsOf(term, changed).reduce((sum, e) => sum + e.bins[1] - e.bins[0] + 1, 0);
    line.children[1].textContent = n + (n === 1 ? " step" : " steps");
  }
}
function newLine(term, changed) {
  const line = make("tr", $("edit_table")), {shape} = changed.entry;
  line.term = term;
  make("a", make("th", line, undefined, {scope: "row"}), shape.name, {href: "#" + anchor(shape)});
  make("td", line, undefined, {className: "number"});
  const reason = make("input", make("td", line), undefined, {className: "reason", placeholder: "reason"});
  reason.setAttribute("aria-label", "reason for the changes to " + shape.name);
  reason.addEventListener("input", () => { changed.reason = reason.value.trim(); fault(""); });
  const back = make("button", make("td", line), "Take back", {type: "button"});
  back.addEventListener("click", () => undo(term));
  return line;
}
function fault(text) { $("edit_fault").textContent = text; }
function download() {
  const missing = [...changes.keys()].findIndex(term => !changes.get(term).reason);
  if (missing >= 0) {
    fault("Say why: every change needs a reason.");
    $("edit_table").querySelectorAll(".reason")[missing].focus();
    return;
  }
  const text = JSON.stringify(documentOf(), null, 1);
  const link = make("a", document.body, "", {download: "edits.json", hidden: true,
    href: URL.createObjectURL(new Blob([text], {type: "application/json"}))});
  link.click();
  link.remove();
}

$("download").addEventListener("click", download);
$("undo_all").addEventListener("click", () => { for (const term of [...changes.keys()]) undo(term); });
$("edit").addEventListener("click", () => {
  editing = !editing;
  $("edit").setAttribute("aria-pressed", String(editing));
  $("edit_help").hidden = $("bar").hidden = !editing;
  document.body.classList.toggle("editing", editing);
  const before = chosen;
  chosen = null;
  if (before && before.entry.over) mark(before.entry);
  for (const entry of cards) {
    if (entry.shape.axes || !entry.over) continue;
    if (editing) prepare(entry);
    else {
      entry.plot.classList.remove("editable");
      entry.told.remove();
      for (const name of ["tabindex", "role", "aria-orientation", "aria-valuemin", "aria-valuemax", "aria-valuenow", "aria-valuetext", "aria-label"])
        entry.plot.removeAttribute(name);
    }
  }
});
for (const entry of cards) if (!entry.shape.axes) drags(entry);
whenAnswered.push(() => { $("now").textContent = "What if: " + $("prediction").textContent; });
$("fields").addEventListener("focusin", () => {  // where the answer may be out of sight
  if (innerWidth < 860) $("bar").hidden = false;
});
answer();
