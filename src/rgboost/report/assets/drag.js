/* Curves that are dragged, by mouse and by keyboard. */
const MOVED = 4, STEPS = 100;  // pixels that make a drag of a click; steps of the keyboard from bottom to top

/* The mouse: along the axis it chooses, across it moves. */
function pointOf(entry, event, at) {
  const unit = 360 / at.width;
  const x = (event.clientX - at.left) * unit, y = (event.clientY - at.top) * unit;
  return entry.drawing.along === "x" ? {along: x, across: y} : {along: y, across: x};
}
function spotAt(entry, along) {
  const {spots} = entry.drawing;
  const off = s => Math.max(s.from - along, along - s.to, 0);
  return spots.reduce((best, s, k) => off(s) < off(spots[best]) ? k : best, 0);
}
function amountAt(drawing, p) {
  const [low, high] = drawing.range, from = drawing.amount(low), to = drawing.amount(high);
  return low + Math.min(1, Math.max(0, (p - from) / (to - from))) * (high - low);
}
/* The class whose value in a spot is nearest. */
function classAt(entry, spot, across) {
  const {values} = entry.term, bin = entry.drawing.spots[spot].bin;
  let best = 0;
  for (let c = 1; c < C; c++)
    if (Math.abs(amountOf(entry, values, bin, c) - across) < Math.abs(amountOf(entry, values, bin, best) - across)) best = c;
  return best;
}
function drags(entry) {
  let drag = null;
  const {plot} = entry;
  plot.addEventListener("pointerdown", event => {
    if (!editing || event.button || !event.target.closest("svg")) return;
    event.preventDefault();
    plot.focus({preventScroll: true});
    plot.setPointerCapture(event.pointerId);
    const frame = entry.drawing.svg.getBoundingClientRect();  // the page may grow meanwhile
    const at = pointOf(entry, event, frame), spot = spotAt(entry, at.along);
    const inside = chosen && chosen.entry === entry && ends(chosen)[0] <= spot && spot <= ends(chosen)[1];
    if (!inside) choose(entry, spot, spot, classAt(entry, spot, at.across));
    drag = {at, spot, frame, kind: null};
  });
  plot.addEventListener("pointermove", event => {
    if (!drag) return;
    const at = pointOf(entry, event, drag.frame);
    if (!drag.kind) {
      const along = Math.abs(at.along - drag.at.along), across = Math.abs(at.across - drag.at.across);
      if (Math.max(along, across) < MOVED) return;
      drag.kind = along > across ? "choose" : "move";
      if (drag.kind === "move") {
        const {c} = chosen, {values, mean} = entry.term;
        drag.range = entry.drawing.range;
        drag.values = entry.drawing.spots.map(s => values[s.bin * C + c] - mean[c]);
        drag.start = amountAt(entry.drawing, drag.at.across);
      }
    }
    if (drag.kind === "choose") choose(entry, drag.spot, spotAt(entry, at.along));
    else {
      const by = amountAt(entry.drawing, at.across) - drag.start;
      change(s => drag.values[s] + by, drag.range);
    }
  });
  for (const end of ["pointerup", "pointercancel"]) plot.addEventListener(end, () => {
    if (drag && drag.kind === "move") refresh(entry);
    drag = null;
  });
  plot.addEventListener("focus", () => {
    if (editing && !(chosen && chosen.entry === entry)) choose(entry, 0, 0, 0);
  });
  plot.addEventListener("keydown", event => { if (editing && key(entry, event)) event.preventDefault(); });
}
/* The keyboard; whether the key means something. */
function key(entry, event) {
  const {drawing} = entry, flat = drawing.along === "x", most = drawing.spots.length - 1;
  const along = {[flat ? "ArrowRight" : "ArrowDown"]: 1, [flat ? "ArrowLeft" : "ArrowUp"]: -1}[event.key];
  const across = {[flat ? "ArrowUp" : "ArrowRight"]: 1, [flat ? "ArrowDown" : "ArrowLeft"]: -1,
    PageUp: 10, PageDown: -10}[event.key];
  if (!chosen || chosen.entry !== entry) choose(entry, 0, 0, 0);
  const to = Math.min(most, Math.max(0, chosen.to + (along || 0)));
  if (along) choose(entry, event.shiftKey ? chosen.from : to, to);
  else if (event.key === "Home") choose(entry, event.shiftKey ? chosen.from : 0, 0);
  else if (event.key === "End") choose(entry, event.shiftKey ? chosen.from : most, most);
  else if (across) {
    const by = across * (drawing.range[1] - drawing.range[0]) / STEPS, {values, mean} = entry.term, {c} = chosen;
    change(s => values[drawing.spots[s].bin * C + c] - mean[c] + by);
  } else if (event.key === "Delete" || event.key === "Backspace") change(() => null);
  else return false;
  return true;
}
