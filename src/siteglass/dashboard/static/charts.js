// Draws what <div class="chart" data-chart="…"> says: days, lines of numbers, as bars on top of each other or as lines.
"use strict";

(() => {
  const drawn = new Map();
  const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const plain = new Intl.NumberFormat("en");

  // Whole steps only: there is no half credit.
  const STEPS = [];
  for (let power = 1; power <= 1e15; power *= 10) STEPS.push(power, 2 * power, 5 * power);

  function compact(value) {
    for (const [size, unit] of [[1e12, "T"], [1e9, "B"], [1e6, "M"], [1e3, "k"]]) {
      if (value >= size) return `${Number((value / size).toPrecision(3))}${unit}`;
    }
    return String(value);
  }

  const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  const WEEK = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

  // Spelled as the rest of the page spells days.
  function dayText(day, long) {
    const [year, month, number] = day.split("-").map(Number);
    const short = `${number} ${MONTHS[month - 1]}`;
    return long ? `${WEEK[new Date(`${day}T00:00:00Z`).getUTCDay()]}, ${short} ${year}` : short;
  }

  // Bars stand on those below them: what is drawn is their sum, the highest first, so that each covers its own part only.
  function stacked(lines) {
    const sums = [];
    lines.forEach((line, place) => {
      sums.push(line.values.map((value, day) => value + (place ? sums[place - 1][day] : 0)));
    });
    return sums;
  }

  function colours(chart) {
    return chart.lines.map((line) => token(`--chart-${line.colour}`));
  }

  function series(chart, paints) {
    if (chart.kind === "lines") {
      return chart.lines.map((line, place) => ({
        label: line.label,
        stroke: paints[place],
        fill: `${paints[place]}12`,
        width: 2,
        points: { show: chart.days.length < 2 },
      }));
    }
    const bars = uPlot.paths.bars({ size: [0.72, 40], align: 0 });
    return chart.lines.map((line, place) => (
      { label: line.label, fill: paints[place], stroke: paints[place], width: 0, paths: bars, points: { show: false } }
    )).reverse();
  }

  // Days that have a mark below them: so many as there is room for, counted back from the last.
  function marks(plot, days) {
    const every = Math.max(1, Math.ceil((days.length * 64) / Math.max(plot.bbox.width / devicePixelRatio, 64)));
    const found = [];
    for (let place = days.length - 1; place >= 0; place -= every) found.unshift(place);
    return found;
  }

  function axes(days) {
    const font = `12px ${getComputedStyle(document.body).fontFamily}`;
    const grid = { stroke: token("--grid"), width: 1 };
    const shared = { font, stroke: token("--soft"), ticks: { show: false } };
    return [
      {
        ...shared,
        grid: { show: false },
        size: 28,
        gap: 8,
        splits: (plot) => marks(plot, days),
        values: (plot, places) => places.map((place) => dayText(days[place])),
      },
      {
        ...shared,
        grid,
        gap: 8,
        space: 36,
        incrs: STEPS,
        values: (plot, values) => values.map(compact),
        size: (plot, values) => 16 + 7 * Math.max(1, ...(values ?? []).map((value) => String(value).length)),
      },
    ];
  }

  function made(name, text, parent) {
    const element = document.createElement("span");
    element.className = name;
    element.textContent = text;
    parent.append(element);
    return element;
  }

  function fillTip(tip, chart, place) {
    tip.replaceChildren();
    made("tip-day", dayText(chart.days[place], true), tip);
    for (const line of [...chart.lines].reverse()) {
      const row = made("tip-row", "", tip);
      made(`swatch colour-${line.colour}`, "", row);
      made("tip-label", line.label, row);
      made("tip-value", plain.format(line.values[place]), row);
    }
    if (chart.kind === "bars" && chart.lines.length > 1) {
      const row = made("tip-row tip-sum", "", tip);
      made("tip-label", "Together", row);
      made("tip-value", plain.format(chart.lines.reduce((sum, line) => sum + line.values[place], 0)), row);
    }
  }

  function tipFor(chart, holder) {
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.hidden = true;
    return {
      init: (plot) => plot.over.append(tip),
      setCursor: (plot) => {
        const place = plot.cursor.idx;
        tip.hidden = place == null || plot.cursor.left < 0;
        if (tip.hidden) return;
        fillTip(tip, chart, place);
        // Beside the day, on the side where there is room, and never out of the card.
        const at = plot.valToPos(place, "x");
        const room = holder.clientWidth - plot.over.offsetLeft;
        const wanted = at + 14 + tip.offsetWidth <= room ? at + 14 : at - 14 - tip.offsetWidth;
        const least = -plot.over.offsetLeft;
        tip.style.left = `${Math.max(least, Math.min(wanted, room - tip.offsetWidth))}px`;
      },
    };
  }

  function draw(holder) {
    const chart = JSON.parse(holder.dataset.chart);
    const places = chart.days.map((day, place) => place);
    const values = chart.kind === "bars" ? stacked(chart.lines).reverse() : chart.lines.map((line) => line.values);
    const tip = tipFor(chart, holder);
    const plot = new uPlot({
      width: holder.clientWidth,
      height: holder.clientHeight,
      padding: [8, 24, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, y: false, points: { show: chart.kind === "lines" } },
      scales: {
        x: { time: false, range: () => (chart.kind === "bars" || places.length < 2 ? [-0.5, places.length - 0.5] : [0, places.length - 1]) },
        y: { range: (_, low, high) => [0, Math.max(1, high) * 1.04] },
      },
      axes: axes(chart.days),
      series: [{}, ...series(chart, colours(chart))],
      hooks: { init: [tip.init], setCursor: [tip.setCursor] },
    }, [places, ...values], holder);
    drawn.set(holder, plot);
  }

  function erase(holder) {
    drawn.get(holder).destroy();
    drawn.delete(holder);
    sizes.unobserve(holder);
  }

  // Draws what is new on the page, forgets what has gone from it.
  function drawAll() {
    for (const holder of [...drawn.keys()]) if (!holder.isConnected) erase(holder);
    for (const holder of document.querySelectorAll(".chart[data-chart]")) {
      if (drawn.has(holder)) continue;
      draw(holder);
      sizes.observe(holder);
    }
  }

  const sizes = new ResizeObserver((changes) => {
    for (const { target } of changes) {
      const plot = drawn.get(target);
      if (plot && target.clientWidth && plot.width !== target.clientWidth) {
        plot.setSize({ width: target.clientWidth, height: target.clientHeight });
      }
    }
  });

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const holder of [...drawn.keys()]) erase(holder);
    drawAll();
  });
  for (const swapped of ["htmx:afterSettle", "htmx:historyRestore"]) document.addEventListener(swapped, drawAll);
  drawAll();
})();
