"use strict";
// Plots of the experiments: SVG drawn by hand, so that the page needs nothing from elsewhere.
(() => {
  const NS = "http://www.w3.org/2000/svg";
  const WIDTH = 400, HEIGHT = 290, LEFT = 58, RIGHT = 12, TOP = 10, BOTTOM = 44;
  const XNAMES = { iterations: "iterations", epochs: "epochs", seconds: "seconds" };
  const YNAMES = { gap: "training loss − optimum", test: "test loss" };
  const studies = JSON.parse(document.getElementById("data").textContent);

  const make = (tag, attributes, parent, text) => {
    const node = document.createElementNS(NS, tag);
    for (const name in attributes) node.setAttribute(name, attributes[name]);
    if (text !== undefined) node.textContent = text;
    if (parent) parent.appendChild(node);
    return node;
  };

  const short = (v) => {
    if (v === 0) return "0";
    const a = Math.abs(v);
    if (a >= 1e5 || a < 1e-3) return v.toExponential(2).replace("e+", "e");
    return String(Number(v.toPrecision(4)));
  };

  // A scale maps values to pixels and knows its ticks.
  function scale(low, high, from, to, log) {
    const f = log ? Math.log10 : (v) => v;
    const a = f(low), b = f(high) > a ? f(high) : a + 1;
    const at = (v) => from + (f(v) - a) / (b - a) * (to - from);
    const back = (pixel) => {
      const v = a + (pixel - from) / (to - from) * (b - a);
      return log ? Math.pow(10, v) : v;
    };
    return { at, back, ticks: log ? logTicks(a, b) : evenTicks(a, b), log };
  }

  function logTicks(a, b) {
    const first = Math.ceil(a - 1e-9), last = Math.floor(b + 1e-9), ticks = [];
    const every = Math.max(1, Math.ceil((last - first + 1) / 7));
    for (let k = first; k <= last; k++) {
      if ((k - first) % every === 0) ticks.push({ value: Math.pow(10, k), power: k });
    }
    if (ticks.length < 2) {
      for (let k = Math.floor(a); k <= Math.ceil(b); k++) {
        for (const m of [1, 2, 5]) {
          const v = m * Math.pow(10, k), l = Math.log10(v);
          if (l >= a && l <= b && !ticks.some((t) => t.value === v)) ticks.push({ value: v });
        }
      }
    }
    return ticks;
  }

  function evenTicks(a, b) {
    const raw = (b - a) / 5, size = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = [1, 2, 5, 10].map((m) => m * size).find((s) => s >= raw);
    const ticks = [];
    for (let k = Math.ceil(a / step); k * step <= b + 1e-12 * step; k++) {
      ticks.push({ value: Number((k * step).toPrecision(12)) });
    }
    return ticks;
  }

  function tickLabel(svg, tick, x, y, anchor) {
    const text = make("text", { x, y, class: "tick", "text-anchor": anchor }, svg);
    if (tick.power !== undefined && (tick.power > 3 || tick.power < -2)) {
      make("tspan", {}, text, "10");
      make("tspan", { class: "sup", dy: "-5" }, text, String(tick.power).replace("-", "−"));
    } else text.textContent = short(tick.value);
  }

  // One panel: the visible series of a step rule, one horizontal axis, gap or test loss.
  function panel(holder, study, state, axis, value) {
    const all = study.series.filter((s) => s.step === state.step && !state.paper(s));
    const shown = all.filter((s) => !state.hidden.has(s.label));
    const log = state.log;
    const svg = make("svg", {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img",
      "aria-label": `${YNAMES[value]} against ${XNAMES[axis]}`,
    });
    holder.replaceChildren(svg);
    const xs = all.flatMap((s) => [s[axis].x[0], s[axis].x[s[axis].x.length - 1]]);
    const xHigh = log ? Math.max(...xs) : study.linear_ends[state.step][axis];
    const x = scale(log ? Math.min(...xs) : 0, xHigh, LEFT, WIDTH - RIGHT, log);
    const [low, high] = value === "gap" ? gapLimits(all, axis, xHigh)
      : log ? study.test_limits[state.step] : linearLimits(all, axis, xHigh);
    const y = scale(low, high, HEIGHT - BOTTOM, TOP, value === "gap");
    for (const tick of x.ticks) {
      const at = x.at(tick.value);
      make("line", { x1: at, x2: at, y1: TOP, y2: HEIGHT - BOTTOM, class: "grid" }, svg);
      tickLabel(svg, tick, at, HEIGHT - BOTTOM + 16, "middle");
    }
    for (const tick of y.ticks) {
      const at = y.at(tick.value);
      make("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: at, y2: at, class: "grid" }, svg);
      tickLabel(svg, tick, LEFT - 6, at + 4, "end");
    }
    make("path", { d: `M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${WIDTH - RIGHT}`, class: "axis" }, svg);
    make("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 8, "text-anchor": "middle" },
      svg, XNAMES[axis]);
    make("text", { transform: `translate(14 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)`,
      "text-anchor": "middle" }, svg, YNAMES[value]);
    const clip = `clip-${panel.count = (panel.count || 0) + 1}`;
    const box = { x: LEFT, y: TOP, width: WIDTH - LEFT - RIGHT, height: HEIGHT - TOP - BOTTOM };
    make("rect", box, make("clipPath", { id: clip }, make("defs", {}, svg)));
    const inside = make("g", { "clip-path": `url(#${clip})` }, svg);
    const point = (c, k, name) => `${x.at(c.x[k]).toFixed(1)} ${y.at(c[name][k]).toFixed(1)}`;
    for (const s of shown) {
      const c = s[axis], n = c.x.length, band = [];
      for (let k = 0; k < n; k++) band.push(point(c, k, `${value}_high`));
      for (let k = n - 1; k >= 0; k--) band.push(point(c, k, `${value}_low`));
      make("path", { d: `M${band.join("L")}Z`, fill: s.colour, "fill-opacity": 0.13 }, inside);
    }
    for (const s of shown) {
      const line = s[axis].x.map((_, k) => point(s[axis], k, value));
      make("path", { d: `M${line.join("L")}`, fill: "none", stroke: s.colour, "stroke-width": 2,
        "stroke-dasharray": s.beyond ? "6 4" : "none", class: "curve" }, inside);
    }
    hover(holder, svg, inside, shown, axis, value, x, y, box);
  }

  function gapLimits(series, axis, end) {
    let low = Infinity, high = 0;
    for (const s of series) {
      low = Math.min(low, ...s[axis].gap.filter((_, k) => s[axis].x[k] <= end));
      high = Math.max(high, ...s[axis].gap_high);
    }
    return [low * 0.7, high * 1.4];
  }

  // Test losses after the first 2 % of a linear axis, where all curves are still steep.
  function linearLimits(series, axis, end) {
    const seen = series.flatMap((s) => s[axis].test.filter((_, k) =>
      s[axis].x[k] >= 0.02 * end && s[axis].x[k] <= end));
    const low = Math.min(...seen), high = Math.max(...seen), margin = 0.05 * (high - low) || 0.05;
    return [low - margin, high + margin];
  }

  // The values of all series at the pointer.
  function hover(holder, svg, inside, shown, axis, value, x, y, box) {
    const tip = document.createElement("div");
    tip.className = "tip";
    holder.appendChild(tip);
    const rule = make("line", { y1: box.y, y2: box.y + box.height, class: "axis",
      "stroke-dasharray": "2 3", visibility: "hidden" }, svg);
    const dots = shown.map((s) => make("circle", { r: 3.2, fill: s.colour, visibility: "hidden" }, inside));
    const leave = () => {
      tip.style.display = "none";
      for (const node of [rule, ...dots]) node.setAttribute("visibility", "hidden");
    };
    svg.addEventListener("pointerleave", leave);
    svg.addEventListener("pointermove", (event) => {
      const frame = svg.getBoundingClientRect();
      const pixel = (event.clientX - frame.left) / frame.width * WIDTH;
      if (pixel < box.x || pixel > box.x + box.width) return leave();
      const at = x.back(pixel);
      tip.replaceChildren(`${XNAMES[axis]}: ${short(at)}`);
      shown.forEach((s, k) => {
        const v = valueAt(s[axis], value, at);
        dots[k].setAttribute("visibility", v === null ? "hidden" : "visible");
        if (v === null) return;
        dots[k].setAttribute("cx", pixel);
        dots[k].setAttribute("cy", y.at(v));
        const row = document.createElement("div"), mark = document.createElement("i");
        mark.style.background = s.colour;
        row.append(mark, `${s.short}: ${short(v)}`);
        tip.appendChild(row);
      });
      rule.setAttribute("x1", pixel);
      rule.setAttribute("x2", pixel);
      rule.setAttribute("visibility", "visible");
      tip.style.display = "block";
      const left = (event.clientX - frame.left) + 14;
      const flip = left + tip.offsetWidth > frame.width;
      tip.style.left = `${flip ? left - tip.offsetWidth - 28 : left}px`;
      tip.style.top = "14px";
    });
  }

  function valueAt(curve, value, at) {
    const xs = curve.x, n = xs.length;
    if (at < xs[0] || at > xs[n - 1]) return null;
    let k = 1;
    while (k < n - 1 && xs[k] < at) k++;
    const share = xs[k] > xs[k - 1] ? (at - xs[k - 1]) / (xs[k] - xs[k - 1]) : 0;
    return curve[value][k - 1] + share * (curve[value][k] - curve[value][k - 1]);
  }

  function choice(parent, title, options, chosen, change) {
    const set = document.createElement("fieldset"), legend = document.createElement("legend");
    legend.textContent = title;
    set.appendChild(legend);
    choice.count = (choice.count || 0) + 1;
    for (const [value, text] of options) {
      const label = document.createElement("label"), input = document.createElement("input");
      Object.assign(input, { type: "radio", name: `choice${choice.count}`, checked: value === chosen });
      input.addEventListener("change", () => change(value));
      label.append(input, ` ${text}`);
      set.appendChild(label);
    }
    parent.appendChild(set);
  }

  function legend(holder, study, state, redraw) {
    holder.replaceChildren();
    for (const s of study.series.filter((one) => one.step === state.step && !state.paper(one))) {
      const button = document.createElement("button");
      button.type = "button";
      button.title = "show or hide in all panels";
      button.setAttribute("aria-pressed", String(!state.hidden.has(s.label)));
      const mark = make("svg", { viewBox: "0 0 24 10" });
      make("line", { x1: 0, x2: 24, y1: 5, y2: 5, stroke: s.colour, "stroke-width": 3,
        "stroke-dasharray": s.beyond ? "6 4" : "none" }, mark);
      button.append(mark, s.label);
      button.addEventListener("click", () => {
        if (!state.hidden.delete(s.label)) state.hidden.add(s.label);
        redraw();
      });
      holder.appendChild(button);
    }
  }

  function plots(root) {
    const study = studies[Number(root.dataset.study)];
    const axes = root.dataset.axes.split(" ");
    const onlyPaper = root.dataset.paper === "true";
    const state = {
      step: study.steps[0], log: root.dataset.log === "true", hidden: new Set(),
      paper: (s) => onlyPaper && s.beyond,
    };
    const controls = document.createElement("div"), key = document.createElement("div");
    const panels = document.createElement("div");
    controls.className = "controls";
    key.className = "legend";
    panels.className = axes.length === 2 ? "panels two" : "panels";
    root.replaceChildren(controls, key, panels);
    const holders = [];
    for (const value of ["gap", "test"]) {
      for (const axis of axes) {
        const holder = document.createElement("div");
        holder.className = "panel";
        panels.appendChild(holder);
        holders.push([holder, axis, value]);
      }
    }
    const redraw = () => {
      legend(key, study, state, redraw);
      for (const [holder, axis, value] of holders) panel(holder, study, state, axis, value);
    };
    choice(controls, "step rule", study.steps.map((s) => [s, s.replace("-", " ")]), state.step,
      (step) => { state.step = step; redraw(); });
    choice(controls, "horizontal axes", [[true, "logarithmic"], [false, "linear"]], state.log,
      (log) => { state.log = log; redraw(); });
    redraw();
  }

  document.querySelectorAll(".plots").forEach(plots);
  document.body.dataset.ready = "true";
})();
