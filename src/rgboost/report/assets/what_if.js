const FIELDS_FIRST = 16, OPTIONS_MOST = 100, PARTS_MOST = 14;
const model = readModel(data.model);
const row = new Float64Array(data.inputs.length);
const classes = data.class_names;

const fields = data.inputs.map((input, i) => {
  const field = make("label", $(i < FIELDS_FIRST ? "first_fields" : "more_fields"), undefined, {className: "field"});
  make("span", field, input.name, {title: input.name});
  const choose = input.labels && input.labels.length <= OPTIONS_MOST;
  const entry = make(choose ? "select" : "input", field);
  if (choose) {
    input.labels.forEach((label, k) => make("option", entry, label, {value: k}));
    make("option", entry, "(missing)", {value: ""});
    make("option", entry, "(another one)", {value: input.labels.length});
  } else {
    entry.placeholder = "missing";
    if (input.labels) {
      const list = make("datalist", field, undefined, {id: "labels" + i});
      for (const label of input.labels) make("option", list, undefined, {value: label});
      entry.setAttribute("list", list.id);
    } else entry.inputMode = "decimal";
  }
  for (const event of ["input", "change"]) entry.addEventListener(event, () => { if (read(i)) answer(); });
  return entry;
});
/* Take the value of a field into the row; false, and said so, if it is none. */
function read(i) {
  const {labels} = data.inputs[i], entry = fields[i], text = entry.value.trim();
  let value = NaN;
  if (entry.value !== "" && labels) {
    const known = entry.tagName === "SELECT" ? Number(entry.value) : labels.indexOf(entry.value);
    value = known < 0 ? labels.length : known;
  } else if (text !== "") {
    value = Number(text);
    if (!Number.isFinite(value)) {
      entry.setAttribute("aria-invalid", "true");
      $("faults").textContent = data.inputs[i].name + ": " + text + " is not a number.";
      return false;
    }
  }
  entry.removeAttribute("aria-invalid");
  if (!$("fields").querySelector("[aria-invalid]")) $("faults").textContent = "";
  row[i] = value;
  return true;
}
function write(values) {
  values.forEach((value, i) => {
    const {labels} = data.inputs[i], entry = fields[i];
    row[i] = value ?? NaN;
    entry.removeAttribute("aria-invalid");
    if (value === null) entry.value = "";
    else if (labels && entry.tagName !== "SELECT") entry.value = labels[value] ?? "(another one)";
    else entry.value = String(value);
  });
  $("faults").textContent = "";
  answer();
}
function inWords(i) {
  const {labels} = data.inputs[i];
  if (Number.isNaN(row[i])) return "missing";
  return labels ? labels[row[i]] ?? "another one" : figure(row[i]);
}

/* The prediction, and what every term adds to it. */
const whenAnswered = [];
function answer() {
  const {added, score} = evaluate(model, row), found = predictionOf(model, score), told = $("prediction");
  told.dataset.value = JSON.stringify(found);
  told.dataset.score = JSON.stringify(Array.from(score));
  if (!classes) headline(told, "Prediction: ", figure(found[0], 6));
  else {
    const best = found.length === 2 ? 1 : found.indexOf(Math.max(...found));
    headline(told, "Class " + classes[best] + ": ", percent(found[best]));
    if (found.length > 2 && !data.chosen_class) $("shown_class").value = best;
  }
  $("chances").replaceChildren();
  if (found.length > 2) bars($("chances"), found.map((p, k) => [classes[k], p, percent(p)]), 0, 1);
  const c = score.length > 1 ? Number($("shown_class").value) : 0;
  showParts(added.map((values, k) => values[c] - model.terms[k].mean[c]), score[c], c);
  for (const tell of whenAnswered) tell();
}
function headline(node, name, value) {
  node.replaceChildren(name, make("b", null, value));
}
/* Bars from zero: [name, value, text]. */
function bars(parent, lines, low, high) {
  const at = scale(low, high, 0, 100);
  for (const [name, value, text] of lines) {
    make("div", parent, name, {className: "name", title: name});
    const track = make("div", parent, undefined, {className: "track"});
    const bar = make("div", track, undefined, {className: value < 0 ? "minus" : "plus"});
    bar.style.left = at(Math.min(0, value)) + "%";
    bar.style.width = Math.abs(at(value) - at(0)) + "%";
    make("div", parent, text, {className: "amount"});
  }
}
function termInWords(inputs) {
  return inputs.map(i => data.inputs[i].name + (inputs.length > 1 ? "" : " = " + inWords(i))).join(" x ");
}
function showParts(parts, score, c) {
  const place = $("parts"), logs = model.link.name === "log";
  const start = score - parts.reduce((a, b) => a + b, 0);
  const order = parts.map((_, k) => k).sort((a, b) => Math.abs(parts[b]) - Math.abs(parts[a]));
  const shown = order.slice(0, order.length > PARTS_MOST ? PARTS_MOST - 1 : PARTS_MOST);
  const lines = shown.map(k => [termInWords(model.terms[k].inputs), parts[k]]);
  if (shown.length < order.length)
    lines.push([order.length - shown.length + " others", order.slice(shown.length).reduce((a, k) => a + parts[k], 0)]);
  const said = v => (v > 0 ? "+" : "") + figure(v, 3) + (logs ? " (× " + figure(Math.exp(v), 3) + ")" : "");
  const values = lines.map(line => line[1]);
  place.replaceChildren();
  const scaleName = data.classes ? data.scale.replace(" of each class", "") + " of class " + data.classes[c] : data.scale;
  const also = f => logs ? " (" + figure(Math.exp(f)) + ")" : "";
  make("p", place, "From the mean " + scaleName + ", " + figure(start) + also(start), {className: "whole faint"});
  bars(place, lines.map(([name, v]) => [name, v, said(v)]), Math.min(0, ...values), Math.max(0, ...values));
  make("p", place, "to " + figure(score, 6) + also(score), {className: "whole faint"});
}

{
  if (data.classes) {
    $("which").hidden = false;
    data.classes.forEach((name, k) => make("option", $("shown_class"), name, {value: k}));
    $("shown_class").addEventListener("change", () => { data.chosen_class = true; answer(); });
  }
  const others = data.inputs.length - FIELDS_FIRST;
  if (others > 0) {
    $("more").hidden = false;
    $("more").querySelector("summary").textContent = others + " more fields, which matter less";
  }
  $("no_offset").hidden = !data.has_offset;
  $("fields").addEventListener("submit", event => event.preventDefault());
  $("again").addEventListener("click", () => write(data.inputs.map(input => input.start)));
  if (data.rows.length) {
    $("kept_rows").hidden = false;
    const names = data.performance.outputs;
    const body = fillTable($("rows"), ["row", "label", ...(names ? names.map(n => "predicted: " + n) : ["predicted"]), "loss"],
      data.rows.map((one, k) => ["", one.label, ...one.predicted, one.loss]));
    data.rows.forEach((one, k) => {
      const line = body.children[k], button = make("button", line.firstChild, String(k + 1), {type: "button"});
      button.setAttribute("aria-label", "row " + (k + 1));
      line.addEventListener("click", () => {
        for (const other of body.children) other.removeAttribute("aria-selected");
        line.setAttribute("aria-selected", "true");
        write(one.values);
      });
    });
  }
  write(data.inputs.map(input => input.start));
}
