/* The arithmetic of the model, as Python does it: the same values are added in the same order. */
function unpack(text) {
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  return new Float64Array(bytes.buffer);
}
function readModel(stored) {
  const terms = stored.terms.map(term => ({...term, values: unpack(term.values), mean: unpack(term.mean),
    axes: term.axes.map(axis => ({...axis, cuts: axis.bins ? null : unpack(axis.cuts)}))}));
  return {intercept: unpack(stored.intercept), link: stored.link, terms};
}
/* The bin of a number, or of the place of a category; NaN is a missing value, whose bin is the last. */
function binOf(axis, x) {
  if (Number.isNaN(x)) return axis.size - 1;
  if (axis.bins) return axis.bins[x];
  let low = 0, high = axis.cuts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (axis.cuts[middle] < x) low = middle + 1; else high = middle;
  }
  return low;
}
/* What a term adds to a row, to the score of each class. */
function valueOf(model, term, row) {
  const n = model.intercept.length;
  const cell = term.axes.reduce((at, axis, k) => at * axis.size + binOf(axis, row[term.inputs[k]]), 0);
  return term.values.subarray(cell * n, (cell + 1) * n);
}
/* Values of all terms, and the score that they add up to. */
function evaluate(model, row) {
  const added = model.terms.map(term => valueOf(model, term, row));
  const score = Float64Array.from(model.intercept);
  for (const values of added) values.forEach((value, c) => { score[c] += value; });
  return {added, score};
}
const EXPONENT_MOST = 700;
const LINKS = {
  identity: f => [f[0]],
  log: f => [Math.exp(Math.max(-EXPONENT_MOST, Math.min(EXPONENT_MOST, f[0])))],
  logistic: (f, scale) => sigmoid(scale * f[0]),
  softmax: f => {
    const most = Math.max(...f), each = Array.from(f, one => Math.exp(one - most));
    const sum = each.reduce((a, b) => a + b, 0);
    return each.map(one => one / sum);
  },
};
/* Probabilities of both of two classes: neither is lost beside 1. */
function sigmoid(f) {
  const e = Math.exp(-Math.abs(f)), small = e / (1 + e), large = 1 / (1 + e);
  return f > 0 ? [small, large] : [large, small];
}
/* A prediction, or the probabilities of all classes. */
function predictionOf(model, score) { return LINKS[model.link.name](score, model.link.scale); }
