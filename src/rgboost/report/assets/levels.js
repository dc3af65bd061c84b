if (data.levels) {
  const found = data.levels, names = data.performance.outputs;
  $("levels").hidden = false;
  document.querySelector('.contents [href="#levels"]').hidden = false;
  $("by").textContent = found.name;
  byClass($("level_table"), names, (place, k) => {
    const table = make("table", make("div", place, undefined, {className: "scroll"}));
    const what = names ? "share of " + names[k] : "mean label";
    const rows = [...found.levels, found.all].map(level => level.loss === null
      ? [level.level, level.rows, null, null, null, null, null]
      : [level.level, level.rows, percent(level.share), level.truth[k], level.predicted[k],
         (level.off[k] > 0 ? "+" : "") + figure(level.off[k], 3) +
         (level.error[k] === null ? "" : " ± " + figure(level.error[k], 2)), level.loss]);
    const body = fillTable(table, [found.name, "rows", "of all", what, "mean prediction",
      "predicted less found", found.loss_name.split(",")[0]], rows);
    body.lastElementChild.className = "all";
    let marks = 0;
    [...found.levels, found.all].forEach((level, i) => {
      const far = level.loss !== null && level.error[k] !== null && Math.abs(level.off[k]) > level.error[k];
      body.children[i].children[2].className = "number";
      body.children[i].children[5].className = "number" + (far ? " marked" : "");
      marks += far;
    });
    for (const k of [2, 5]) table.tHead.rows[0].children[k].className = "number";
    if (marks) make("p", place, "Marked: zero is outside of the interval.", {className: "faint"});
  });
}
