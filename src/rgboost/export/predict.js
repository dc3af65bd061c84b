// A model that was fitted by rgboost: curves and pairs as tables, and one function that looks them
// up. {{name}}(row) takes an object of the values of the features by their names; null and NaN stand
// for missing values. It gives {prediction, score, probabilities, contributions}: probabilities of
// the classes (null of a regression), and what every term adds to the score. With more than two
// classes, score and contributions are arrays. Written by {{written_by}}.
const {{name}} = (() => {
  "use strict";
  const model = {{model}};
  const places = model.terms.map((term) =>
    term.axes.map((axis) => new Map((axis.categories || []).map((category, k) => [category, k]))));
  const outputs = model.intercept.length;

  // The last bin is that of missing values, and the one after the categories of others.
  function binOf(axis, known, row) {
    if (!Object.prototype.hasOwnProperty.call(row, axis.feature)) {
      throw new TypeError(`the row has no value for ${JSON.stringify(axis.feature)}; ` +
        "null stands for a missing one");
    }
    const value = row[axis.feature];
    if (value === null || value !== value) return axis.size - 1;
    const type = typeof value;
    if (axis.kind === "text" ? type !== "string" : type !== "number" && type !== "boolean") {
      throw new TypeError(`${JSON.stringify(axis.feature)} must be ` +
        `${axis.kind === "text" ? "a string" : "a number"}, not ${JSON.stringify(value)}`);
    }
    if (axis.kind === "number") return countBelow(axis.edges, Number(value));
    const place = known.get(axis.kind === "text" ? value : Number(value));
    return place === undefined ? known.size : place;
  }

  function countBelow(edges, x) {
    let low = 0, high = edges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (edges[middle] < x) low = middle + 1; else high = middle;
    }
    return low;
  }

  function response(score) {
    if (model.link === "log") return Math.exp(Math.min(Math.max(score, -700), 700));
    if (model.link === "logistic") return 1 / (1 + Math.exp(Math.min(-model.scale * score, 700)));
    return score;
  }

  function probabilitiesOf(scores) {
    if (outputs === 1) return [1 - response(scores[0]), response(scores[0])];
    const most = Math.max(...scores), shares = scores.map((score) => Math.exp(score - most));
    const total = shares.reduce((sum, share) => sum + share, 0);
    return shares.map((share) => share / total);
  }

  function chosen(scores) {
    if (outputs === 1) return scores[0] > 0 ? 1 : 0;
    return scores.indexOf(Math.max(...scores));
  }

  return (row) => {
    const scores = model.intercept.slice();
    const contributions = model.terms.map((term, t) => {
      let cell = 0;
      term.axes.forEach((axis, a) => {
        cell = cell * axis.size + binOf(axis, places[t][a], row);
      });
      const values = term.values.slice(cell * outputs, (cell + 1) * outputs);
      values.forEach((value, c) => { scores[c] += value; });
      return { term: term.name, value: outputs === 1 ? values[0] : values };
    });
    const regression = model.classes === null;
    return {
      prediction: regression ? response(scores[0]) : model.classes[chosen(scores)],
      score: outputs === 1 ? scores[0] : scores,
      probabilities: regression ? null : probabilitiesOf(scores),
      contributions,
    };
  };
})();
if (typeof module !== "undefined") module.exports = { {{name}} };
