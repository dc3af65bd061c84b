function drawCurve(parent, curve) {
  const box = {left: 56, right: 452, top: 8, bottom: 220, label: 238};
  const svg = draw("svg", parent, {viewBox: "0 0 460 256", role: "img"});
  svg.setAttribute("aria-label", "learning curve");
  const every = curve.train.concat(curve.validation || []);
  const losses = every.filter(loss => loss !== null);
  if (!losses.length) losses.push(0);
  const x = scale(curve.iteration[0], curve.iteration[curve.iteration.length - 1], box.left, box.right);
  const low = Math.min(...losses), high = Math.max(...losses), room = 0.04 * (high - low) || 1;
  const y = scale(low - room, high + room, box.bottom, box.top);
  frame(svg, x, y, box, ticks(curve.iteration[0], curve.iteration[curve.iteration.length - 1], 6),
        ticks(low, high, 6));
  for (const [name, kind] of [["train", "step"], ["validation", "second"]]) {
    if (!curve[name]) continue;
    let path = "", pen = "M";
    curve[name].forEach((loss, k) => {
      if (loss !== null) path += pen + x(curve.iteration[k]) + "," + y(loss);
      pen = loss === null ? "M" : "L";
    });
    draw("path", svg, {class: kind, d: path});
  }
  draw("text", svg, {x: (box.left + box.right) / 2, y: 254, "text-anchor": "middle"}, "iteration");
  if (curve.pairs_from !== null) {
    const at = x(curve.pairs_from), left = at < (box.left + box.right) / 2;
    draw("line", svg, {class: "zero", x1: at, x2: at, y1: box.top, y2: box.bottom});
    draw("text", svg, {x: at + (left ? 5 : -5), y: box.top + 10, "text-anchor": left ? "start" : "end"},
         left ? "pairs from here on" : "curves until here");
  }
  const legend = make("p", parent, undefined, {className: "faint legend"});
  make("span", legend, "training loss");
  if (curve.validation) make("span", legend, "validation loss");
  if (every.includes(null))
    make("p", parent, "Losses that are infinite or not a number are not drawn.", {className: "faint"});
}

const features = data.features, pairs = data.pairs;
const anchor = term => term.axes ? "p" + pairs.indexOf(term) : "f" + term.feature;
const terms = features.concat(pairs).sort((a, b) => b.importance - a.importance);
for (const node of document.querySelectorAll(".pairs")) node.hidden = !pairs.length;
for (const [name, value] of data.facts) {
  const pair = make("div", $("facts"));
  make("dt", pair, name);
  make("dd", pair, value);
}
$("band").hidden = !data.band;
$("band").querySelector("span").textContent = data.band;
$("edited").hidden = !data.edited.length;
for (const line of data.edited) make("li", $("edited").querySelector("ol"), line);
$("formula").textContent = data.formula;
for (const node of document.querySelectorAll(".scale")) node.textContent = data.scale;
(data.classes || []).forEach((name, k) => make("span", $("classes"), name, {className: colour(k)}));
drawCurve($("curve"), data.curve);
const shown = terms.slice(0, 20);
for (const shape of shown) {
  const cell = make("div", $("bars"), undefined, {className: "name", title: shape.name});
  make("a", cell, shape.name, {href: "#" + anchor(shape)});
  const bar = make("div", make("div", $("bars"), undefined, {className: "track"}));
  bar.style.width = 100 * shape.importance / (terms[0].importance || 1) + "%";
  make("div", $("bars"), percent(shape.importance), {className: "share"});
}
const kind = pairs.length ? " features and pairs" : " features";
const more = Math.max(0, terms.length - 20) + data.left_out_pairs;
const hidden = terms.slice(20).reduce((sum, shape) => sum + shape.importance, data.left_out_share);
$("rest").textContent = [
  more ? more + " more" + kind + ": " + percent(hidden) + "." : "",
  data.left_out_pairs ? "The " + pairs.length + " strongest pairs are drawn." : "",
  data.unused ? data.unused + (data.unused === 1 ? " feature is" : " features are") + " not used by the model." : "",
].filter(Boolean).join(" ");

let limits = null;
const all = [
  features.reduce((m, shape) => flat(shape).reduce((a, b) => Math.min(a, b), m), 0),
  features.reduce((m, shape) => flat(shape).reduce((a, b) => Math.max(a, b), m), 0),
];
const cards = terms.map((shape, rank) => {
  const card = make("article", null, undefined, {className: "card", id: anchor(shape)});
  const header = make("header", card);
  make("span", header, shape.name, {className: "name", title: shape.name});
  make("span", header, percent(shape.importance), {className: "share"});
  const plot = make("div", card, undefined, {className: "plot"});
  return {card, plot, shape, rank, drawn: false, key: shape.name.toLowerCase()};
});
/* Functions that are told when a term was drawn. */
const whenDrawn = [];
function drawTerm(entry, frame) {
  entry.drawn = true;
  if (!entry.shape.axes) {
    entry.plot.replaceChildren();
    entry.drawing = drawShape(entry.plot, entry.shape, limits, frame);
  } else {
    const choice = data.classes && (entry.plot.querySelector("select") || chooseClass(entry.plot, entry));
    drawPair(entry.plot, entry.shape, limits, choice ? Number(choice.value) : 0);
  }
  for (const told of whenDrawn) told(entry);
}
const byCard = new Map(cards.map(entry => [entry.card, entry]));
/* Only what comes into view is drawn, so that thousands of features open at once. */
const watcher = new IntersectionObserver(found => {
  for (const one of found) {
    const entry = byCard.get(one.target);
    if (one.isIntersecting && !entry.drawn) drawTerm(entry);
  }
}, {rootMargin: "400px"});

const place = entry => entry.shape.axes ? 1e12 + entry.rank : entry.shape.feature;  // pairs last
const ORDERS = {
  importance: (a, b) => a.rank - b.rank,
  name: (a, b) => a.shape.name.localeCompare(b.shape.name, undefined, {numeric: true}),
  feature: (a, b) => place(a) - place(b),
};
function arrange() {
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const kept = cards.filter(entry => words.every(word => entry.key.includes(word)));
  kept.sort(ORDERS[$("order").value]);
  watcher.disconnect();
  $("cards").replaceChildren(...kept.map(entry => entry.card));
  for (const entry of kept) watcher.observe(entry.card);
  $("found").textContent = words.length ? kept.length + " of " + cards.length + kind
                                        : cards.length + kind;
}
$("search").addEventListener("input", arrange);
$("order").addEventListener("change", arrange);
for (const box of ["same", "whole"]) $(box).addEventListener("change", () => {
  limits = $("same").checked ? all : null;
  for (const entry of cards) {
    entry.drawn = false;
    entry.plot.querySelectorAll("svg, canvas, .says").forEach(node => node.remove());
  }
  arrange();
});
window.addEventListener("hashchange", () => {
  const target = document.getElementById(location.hash.slice(1));
  if (!target) { $("search").value = ""; arrange(); document.getElementById(location.hash.slice(1))?.scrollIntoView(); }
});
window.addEventListener("beforeprint", () => {
  for (const entry of cards) if (!entry.drawn && entry.card.isConnected) drawTerm(entry);
});
const wish = new URLSearchParams(location.search).get("q");
if (wish) $("search").value = wish;
arrange();
