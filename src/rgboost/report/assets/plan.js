/* A table: names of columns, and rows of texts or numbers; numbers stand to the right. */
function fillTable(table, head, rows) {
  table.replaceChildren();
  const top = make("tr", make("thead", table));
  for (const name of head) make("th", top, name, {scope: "col"});
  const body = make("tbody", table);
  for (const cells of rows) {
    const line = make("tr", body);
    cells.forEach((cell, k) => {
      const node = make(k ? "td" : "th", line, typeof cell === "number" ? figure(cell) : cell ?? "–");
      if (!k) node.scope = "row";
      if (typeof cell === "number") node.className = "number";
    });
  }
  [...top.children].forEach((node, k) => {
    if (rows.some(cells => typeof cells[k] === "number")) node.className = "number";
  });
  return body;
}
/* A number for people: thousands are set apart. */
function figure(x, digits = 4) {
  const size = Math.abs(x);
  if (x !== 0 && (size >= 1e9 || size < 1e-4)) return x.toExponential(2);
  const most = Math.max(digits, Math.ceil(Math.log10(size + 1)));
  return x.toLocaleString("en", {maximumSignificantDigits: Math.min(21, most)});
}
{
  const plan = data.plan;
  $("plan").querySelector("details").hidden = !plan.entries.length;
  fillTable($("settings"), ["setting", "value", "set by", "why"],
    plan.entries.map(([name, value, source, why]) => [name, String(value), source, why]));
  for (const event of plan.events) make("li", $("events"), event);
  if (plan.certificate) {
    const c = plan.certificate;
    $("certificate").hidden = false;
    $("certificate").textContent = "Certificate of iteration " + c.iteration + ": no model of these " +
      "weak-learners has a training loss that is smaller by more than " + figure(c.gap) + " (" +
      percent(c.relative) + " of the loss " + figure(c.loss) + ").";
  }
  if (data.edit_cost) {
    const [name, before, after] = data.edit_cost;
    make("p", $("edited"), "On the given rows, " + name + ": " + figure(before, 6) + " before, " + figure(after, 6) + " after.");
  }
}
