// Plays the recordings of simulated runs on one clock.
(() => {
  "use strict";
  const films = [...document.querySelectorAll(".film")].map((place) => {
    const film = JSON.parse(place.querySelector("script").textContent);
    return {
      film,
      tree: place.querySelector(".tree"),
      course: place.querySelector(".course"),
      status: place.querySelector(".status"),
      states: states(film),
    };
  });
  const [play, scrub, speed, clock] = ["play", "scrub", "speed", "clock"].map((id) =>
    document.getElementById(id),
  );
  const endOf = ({ film }) => film.frames.at(-1).at_s;
  const end = Math.max(...films.map(endOf));
  const [GAP, LABEL, SIZE] = [6, 40, 74];
  const [ROW, MEMTABLE, LANE] = [24, 14, 46];
  const WHOLE_RUN_S = 30;
  let now = 0;
  let last = null;

  // What each frame shows, from what changed since the one before.
  function states(film) {
    const place = new Map();
    return film.frames.map((frame) => {
      for (const [id, level] of Object.entries(frame.moved)) {
        if (level < 0) place.delete(id);
        else place.set(id, level);
      }
      const levels = Array.from({ length: film.levels }, () => []);
      for (const [id, level] of place) levels[level].push(id);
      levels[0].sort((a, b) => b - a); // the newest on top
      return levels;
    });
  }

  // The last frame that is not later.
  const frameAt = ({ film }) => {
    let [low, high] = [0, film.frames.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (film.frames[middle].at_s <= now) low = middle;
      else high = middle - 1;
    }
    return low;
  };

  const amplification = (film, frame) =>
    (frame.flushed_bytes + frame.compacted_bytes) /
    Math.max(1, frame.written_records * film.record_bytes);

  const bytes = (count) => {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = 0;
    for (; count >= 1000 && unit < units.length - 1; unit += 1) count /= 1024;
    return `${count >= 100 || unit === 0 ? count.toFixed(0) : count.toPrecision(3)} ${units[unit]}`;
  };

  const brush = (canvas, height) => {
    const [width, ratio] = [canvas.clientWidth, devicePixelRatio || 1];
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const to = canvas.getContext("2d");
    to.scale(ratio, ratio);
    to.font = "12px system-ui, sans-serif";
    to.textBaseline = "middle";
    return { to, width };
  };

  const palette = () => {
    const style = getComputedStyle(document.documentElement);
    const named = (name) => style.getPropertyValue(`--${name}`).trim();
    return Object.fromEntries(
      ["ink", "soft", "grid", "base", "best", "paper"].map((name) => [name, named(name)]),
    );
  };

  const hatch = (to, x, y, width, height, colour) => {
    to.save();
    to.beginPath();
    to.rect(x, y, width, height);
    to.clip();
    to.strokeStyle = colour;
    to.lineWidth = 1.5;
    for (let at = x - height; at < x + width; at += 5) {
      to.beginPath();
      to.moveTo(at, y + height);
      to.lineTo(at + height, y);
      to.stroke();
    }
    to.restore();
  };

  const mostInLevel0 = ({ states }) => Math.max(1, ...states.map((levels) => levels[0].length));

  const drawTree = (one, colours) => {
    const { film, states } = one;
    const at = frameAt(one);
    const [frame, levels] = [film.frames[at], states[at]];
    const thin = Math.max(3, Math.min(10, 120 / mostInLevel0(one)));
    const first = ROW + GAP;
    const heights = levels.map((_, level) => (level ? ROW : thin * mostInLevel0(one)) + GAP);
    const { to, width } = brush(one.tree, first + heights.reduce((a, b) => a + b, 0));
    const [left, span] = [LABEL, width - LABEL - SIZE];
    const busy = new Set(frame.jobs.flatMap(([number]) => film.jobs[number].inputs.map(String)));

    to.fillStyle = colours.soft;
    to.fillText("RAM", 0, ROW / 2);
    for (let n = 0; n < frame.memtables + 1; n += 1) {
      const x = left + n * (MEMTABLE + 4);
      to.strokeStyle = colours.best;
      to.strokeRect(x + 0.5, (ROW - MEMTABLE) / 2 + 0.5, MEMTABLE, MEMTABLE);
      if (n) {
        to.fillStyle = colours.best;
        to.fillRect(x, (ROW - MEMTABLE) / 2, MEMTABLE + 1, MEMTABLE + 1);
      }
    }
    let y = first;
    levels.forEach((ids, level) => {
      const height = heights[level] - GAP;
      to.fillStyle = colours.grid;
      to.globalAlpha = 0.35;
      to.fillRect(left, y, span, height);
      to.globalAlpha = 1;
      ids.forEach((id, place) => {
        const file = film.files[id];
        const x = left + file.from * span;
        const wide = Math.max(1, (file.to - file.from) * span - 0.5);
        const [top, high] = level ? [y, height] : [y + place * thin, thin - 1];
        to.fillStyle = busy.has(id) ? colours.paper : colours.best;
        to.fillRect(x, top, wide, high);
        if (busy.has(id)) hatch(to, x, top, wide, high, colours.base);
      });
      to.fillStyle = colours.soft;
      to.fillText(`L${level}`, 0, y + height / 2);
      const held = ids.reduce((sum, id) => sum + film.files[id].bytes, 0);
      to.fillText(ids.length ? bytes(held) : "–", left + span + 8, y + height / 2);
      y += heights[level];
    });
  };

  const drawCourse = (one, colours) => {
    const { film, states } = one;
    const { to, width } = brush(one.course, 16 + 2 * (LANE + GAP) + 16);
    const [left, span] = [LABEL, width - LABEL - SIZE];
    const x = (at_s) => left + (at_s / end) * span;
    film.frames.forEach((frame, i) => {
      const until = film.frames[i + 1]?.at_s;
      if (until === undefined || !frame.writes) return;
      const wide = Math.max(0.5, x(until) - x(frame.at_s));
      to.fillStyle = colours.base;
      if (frame.writes > 1) to.fillRect(x(frame.at_s), 0, wide, 12);
      else to.fillRect(x(frame.at_s), 8, wide, 4);
    });
    to.fillStyle = colours.soft;
    to.fillText("stall", 0, 7);
    const lane = (name, top, values, most, text) => {
      to.strokeStyle = colours.grid;
      to.strokeRect(left + 0.5, top + 0.5, span, LANE);
      to.fillStyle = colours.soft;
      to.fillText(name, 0, top + LANE / 2);
      to.fillText(text(most), left + span + 8, top + 8);
      to.strokeStyle = colours.best;
      to.lineWidth = 1.5;
      to.beginPath();
      values.forEach((value, i) => {
        to.lineTo(x(film.frames[i].at_s), top + LANE - (value / most) * (LANE - 4));
      });
      to.stroke();
      to.lineWidth = 1;
    };
    const amplified = film.frames.map((frame) => amplification(film, frame));
    const mostAmplified = Math.max(
      ...films.flatMap((f) => f.film.frames.map((frame) => amplification(f.film, frame))),
    );
    const waiting = states.map((levels) => levels[0].length);
    const mostWaiting = Math.max(...films.map(mostInLevel0));
    lane("WA", 16, amplified, mostAmplified, (most) => `${most.toFixed(1)}`);
    lane("L0", 16 + LANE + GAP, waiting, mostWaiting, (most) => `${most} files`);
    to.fillStyle = colours.soft;
    to.fillText("0 s", left, 16 + 2 * (LANE + GAP) + 6);
    to.textAlign = "right";
    to.fillText(`${end.toFixed(1)} s`, left + span, 16 + 2 * (LANE + GAP) + 6);
    to.textAlign = "left";
    to.strokeStyle = colours.ink;
    to.beginPath();
    to.moveTo(x(Math.min(now, end)), 0);
    to.lineTo(x(Math.min(now, end)), 16 + 2 * (LANE + GAP));
    to.stroke();
  };

  const jobText = (film, [number, done]) => {
    const job = film.jobs[number];
    const what = job.is_flush ? "flush" : `compaction of ${job.inputs.length} files`;
    return `${what} into L${job.to} ${Math.round(100 * done)} %`;
  };

  const tell = (one) => {
    const at = frameAt(one);
    const frame = one.film.frames[at];
    const ended = now >= endOf(one);
    const writes = ["writes run", "writes are slowed down", "writes are stopped"][frame.writes];
    const facts = [
      `${Math.round(frame.written_records).toLocaleString("en")} records written`,
      `write amplification ${amplification(one.film, frame).toFixed(2)}`,
      `stalled ${frame.stall_s.toFixed(1)} s`,
      ended ? "done" : writes,
      frame.jobs.map((job) => jobText(one.film, job)).join(", ") || "no job runs",
    ];
    one.status.textContent = facts.join(" · ");
  };

  const draw = () => {
    const colours = palette();
    for (const one of films) {
      drawTree(one, colours);
      drawCourse(one, colours);
      tell(one);
    }
    scrub.value = (now / end) * Number(scrub.max);
    clock.textContent = `${now.toFixed(1)} of ${end.toFixed(1)} s`;
  };

  const step = (at_ms) => {
    if (last === null) return;
    now = Math.min(end, now + ((at_ms - last) / 1000) * (end / WHOLE_RUN_S) * Number(speed.value));
    last = at_ms;
    draw();
    if (now >= end) pause();
    else requestAnimationFrame(step);
  };

  const pause = () => {
    last = null;
    play.textContent = "Play";
  };

  play.addEventListener("click", () => {
    if (last !== null) {
      pause();
      return;
    }
    if (now >= end) now = 0;
    play.textContent = "Pause";
    last = performance.now();
    requestAnimationFrame(step);
  });
  scrub.addEventListener("input", () => {
    now = (Number(scrub.value) / Number(scrub.max)) * end;
    draw();
  });
  addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  now = end / 2;
  draw();
})();
