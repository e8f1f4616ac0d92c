// The pictures: one canvas for axis, waveform, overlap and lanes, one for the whole recording. Only
// what is in view is drawn, and turns that share a pixel are drawn once.

const axisHeight = 28;
const waveHeight = 94;
const overlapHeight = 18;
const laneHeight = 38;  // of the list beside it as well (report.css)
const shortestView = 0.5;  // seconds
const speakerColors = 8;

/** Distance of the axis' labels for so many seconds per pixel. */
function axisStep(secondsPerPixel) {
  const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 36000];
  return steps.find((step) => step / secondsPerPixel >= 84) || 86400;
}

/** Index of the first turn that may reach `time`; `reach[i]` is the last end up to turn i. */
function firstReaching(reach, time) {
  let low = 0, high = reach.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (reach[middle] > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Index of the first overlap that ends after a time in milliseconds. */
function firstOverlap(overlaps, time) {
  let low = 0, high = overlaps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (overlaps[middle][1] > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

class Timeline {
  constructor(duration, waveform, elements) {
    this.duration = Math.max(duration, 0.001);
    this.waveform = waveform;
    this.lanes = elements.lanes;
    this.overview = elements.overview;
    this.frame = elements.frame;
    this.start = 0;
    this.end = this.duration;
    this.position = 0;
    this.selected = null;
    this.matching = null;  // Set of turns, null: all
    this.dirty = false;
    this.overviewStale = true;
    this.heights = new Float32Array(0);
    this.frameTimes = null;
    new ResizeObserver(() => this.resize()).observe(this.frame);
  }

  /** Takes a new state of the turns. */
  show(state, visible, overlaps) {
    this.state = state;
    this.visible = visible;  // numbers of the speakers that have a lane
    this.overlaps = overlaps;
    const laneOf = new Map(visible.map((speaker, lane) => [speaker, lane]));
    this.byLane = visible.map(() => []);
    for (const turn of state.turns) this.byLane[laneOf.get(turn.speaker)].push(turn);
    this.reach = this.byLane.map((turns) => {
      let last = 0;
      return turns.map((turn) => (last = Math.max(last, turn.end / 1000)));
    });
    this.paintOwners();
    this.resize();
  }

  // Who speaks when, 20 times a second: 0 nobody, 255 several, else 1 + colour.
  paintOwners() {
    this.owner = new Uint8Array(Math.ceil(this.duration * 20) + 1);
    const put = (start, end, value) =>
      this.owner.fill(value, Math.round(start / 50), Math.max(Math.round(start / 50) + 1, Math.round(end / 50)));
    for (const turn of this.state.turns)
      put(turn.start, turn.end, 1 + (this.state.speakers[turn.speaker].color % speakerColors));
    for (const [start, end] of this.overlaps) put(start, end, 255);
  }

  readColors() {
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue('--' + name).trim();
    this.colors = { speakers: [] };
    for (let i = 0; i < speakerColors; i += 1) this.colors.speakers.push(color('speaker-' + i));
    for (const name of ['surface', 'sunken', 'text', 'soft', 'line', 'wave', 'playhead', 'hatch', 'accent'])
      this.colors[name] = color(name);
    this.colors.wave = color('wave');
    this.colors.body = color('wave-body');
    this.font = '12px ' + getComputedStyle(document.body).fontFamily;
    this.overviewStale = true;
    this.stripes = null;
    this.requestDraw();
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const fit = (canvas, width, height) => {
      const w = Math.round(width * ratio), h = Math.round(height * ratio);
      if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
    };
    this.width = Math.max(50, this.frame.clientWidth);
    this.height = axisHeight + waveHeight + overlapHeight + Math.max(1, this.byLane ? this.byLane.length : 1) * laneHeight;
    this.lanes.style.height = this.height + 'px';
    fit(this.lanes, this.width, this.height);
    this.overviewWidth = Math.max(50, this.overview.clientWidth);
    fit(this.overview, this.overviewWidth, 46);
    this.ratio = ratio;
    this.overviewStale = true;
    this.requestDraw();
  }

  get secondsPerPixel() { return (this.end - this.start) / this.width; }
  timeAt(x) { return this.start + x * this.secondsPerPixel; }
  xOf(time) { return (time - this.start) / this.secondsPerPixel; }

  setView(start, end) {
    const length = Math.min(this.duration, Math.max(Math.min(shortestView, this.duration), end - start));
    this.start = Math.min(Math.max(0, start), this.duration - length);
    this.end = this.start + length;
    this.requestDraw();
  }

  zoom(factor, around) {
    const length = (this.end - this.start) / factor;
    const limited = Math.min(this.duration, Math.max(Math.min(shortestView, this.duration), length));
    const share = (around - this.start) / (this.end - this.start);
    this.setView(around - share * limited, around + (1 - share) * limited);
  }

  pan(seconds) { this.setView(this.start + seconds, this.end + seconds); }
  fit() { this.setView(0, this.duration); }

  /** Moves the view so that a time is in it, with room ahead. */
  reveal(time) {
    const length = this.end - this.start;
    if (time < this.start || time > this.end) this.setView(time - length * 0.15, time + length * 0.85);
  }

  /** The turn at a point of the lanes, or null. */
  turnAt(x, y) {
    const lane = Math.floor((y - axisHeight - waveHeight - overlapHeight) / laneHeight);
    if (y < axisHeight + waveHeight + overlapHeight || lane >= this.byLane.length) return null;
    const slack = 2 * this.secondsPerPixel, time = this.timeAt(x);
    const turns = this.byLane[lane];
    for (let i = firstReaching(this.reach[lane], time - slack); i < turns.length; i += 1) {
      if (turns[i].start / 1000 > time + slack) break;
      if (turns[i].end / 1000 >= time - slack) return turns[i];
    }
    return null;
  }

  requestDraw() {
    if (this.dirty) return;
    this.dirty = true;
    requestAnimationFrame(() => {
      this.dirty = false;
      const before = performance.now();
      if (this.colors && this.state) this.draw();
      if (this.frameTimes) this.frameTimes.push(performance.now() - before);
    });
  }

  draw() {
    const context = this.lanes.getContext('2d');
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.fillStyle = this.colors.surface;
    context.fillRect(0, 0, this.width, this.height);
    this.drawAxis(context);
    this.drawWave(context);
    this.drawOverlap(context);
    this.byLane.forEach((turns, lane) => this.drawLane(context, lane));
    this.drawPlayhead(context);
    this.drawOverview();
  }

  drawAxis(context) {
    const { colors } = this, step = axisStep(this.secondsPerPixel);
    context.font = this.font;
    context.textBaseline = 'middle';
    const bottom = this.height;
    const decimals = step < 1 ? 1 : 0;
    for (let i = Math.floor(this.start / step); i * step <= this.end; i += 1) {
      const x = Math.round(this.xOf(i * step)) + 0.5;
      context.fillStyle = colors.line;
      context.fillRect(x - 0.5, axisHeight, 1, bottom - axisHeight);
      context.fillRect(x - 0.5, axisHeight - 6, 1, 6);
      context.fillStyle = colors.soft;
      context.fillText(clockText(Math.round(i * step * 1000), decimals), x + 5, axisHeight / 2);
    }
    context.fillStyle = colors.line;
    context.fillRect(0, axisHeight - 1, this.width, 1);
  }

  drawWave(context) {
    const middle = axisHeight + waveHeight / 2, half = waveHeight / 2 - 6;
    const { colors } = this;
    if (!this.waveform) {
      context.fillStyle = colors.line;
      context.fillRect(0, middle - 0.5, this.width, 1);
      context.fillStyle = colors.soft;
      context.fillText('No waveform: the report was made without the recording', 12, middle - 14);
      return;
    }
    const count = Math.ceil(this.width), width = this.secondsPerPixel;
    if (this.heights.length < count) this.heights = new Float32Array(count);
    // Plain rectangles: a path of a thousand of them takes a renderer without a GPU far longer.
    for (const kind of ['peak', 'power']) {
      this.waveform.heights(kind, this.start, width, count, this.heights);
      const body = kind === 'power';
      let before = -1;
      for (let x = 0; x < count; x += 1) {
        const owner = this.owner[Math.min(this.owner.length - 1, Math.floor((this.start + (x + 0.5) * width) * 20))];
        if (owner !== before) {
          before = owner;
          context.globalAlpha = owner === 0 || body ? 1 : 0.45;
          context.fillStyle = owner === 0 ? (body ? colors.body : colors.wave)
            : owner === 255 ? colors.text : colors.speakers[owner - 1];
        }
        const h = Math.max(0.5, this.heights[x] * half);
        context.fillRect(x, middle - h, 1, 2 * h);
      }
    }
    context.globalAlpha = 1;
  }

  // Diagonal stripes of a colour, made once.
  stripePattern(context, color) {
    this.stripes = this.stripes || new Map();
    if (!this.stripes.has(color)) {
      const tile = document.createElement('canvas');
      tile.width = tile.height = 6;
      const brush = tile.getContext('2d');
      brush.strokeStyle = color;
      brush.lineWidth = 1.6;
      brush.beginPath();
      for (const shift of [-6, 0, 6]) {
        brush.moveTo(shift - 1, 7);
        brush.lineTo(shift + 7, -1);
      }
      brush.stroke();
      this.stripes.set(color, context.createPattern(tile, 'repeat'));
    }
    return this.stripes.get(color);
  }

  drawOverlap(context) {
    const top = axisHeight + waveHeight;
    context.fillStyle = this.colors.sunken;
    context.fillRect(0, top, this.width, overlapHeight);
    const stripes = this.stripePattern(context, this.colors.text);
    this.forEachOverlap((x, width) => {
      context.fillStyle = width < 8 ? this.colors.text : stripes;  // too narrow for stripes
      context.fillRect(x, top + 4, width, overlapHeight - 8);
    });
  }

  // Calls use(x, width) for overlaps in view, neighbours within a pixel as one.
  forEachOverlap(use) {
    let left = null, right = 0;
    const ends = this.overlaps;
    for (let i = firstOverlap(ends, this.start * 1000); i < ends.length && ends[i][0] / 1000 < this.end; i += 1) {
      const x = this.xOf(ends[i][0] / 1000), end = Math.max(x + 1, this.xOf(ends[i][1] / 1000));
      if (left !== null && x <= right) {
        right = Math.max(right, end);
        continue;
      }
      if (left !== null) use(left, right - left);
      [left, right] = [x, end];
    }
    if (left !== null) use(left, right - left);
  }

  drawLane(context, lane) {
    const { colors } = this;
    const top = axisHeight + waveHeight + overlapHeight + lane * laneHeight;
    context.fillStyle = colors.line;
    context.fillRect(0, top, this.width, 1);
    const turns = this.byLane[lane];
    const color = colors.speakers[this.state.speakers[this.visible[lane]].color % speakerColors];
    let covered = -1, chosen = null;
    for (let i = firstReaching(this.reach[lane], this.start); i < turns.length; i += 1) {
      const turn = turns[i];
      if (turn.start / 1000 >= this.end) break;
      const x = Math.max(-4, this.xOf(turn.start / 1000));
      const end = Math.min(this.width + 4, Math.max(x + 1.5, this.xOf(turn.end / 1000)));
      if (turn === this.selected) chosen = [x, end];
      if (end <= covered + 0.5) continue;  // these pixels have been drawn
      const dim = this.matching && !this.matching.has(turn);
      const sure = Math.min(1, Math.max(0, (turn.confidence / 1000 - 0.4) / 0.6));
      context.fillStyle = color;
      context.globalAlpha = dim ? 0.1 : 0.28 + 0.72 * sure;
      context.fillRect(x, top + 8, end - x, laneHeight - 15);
      context.globalAlpha = dim ? 0.25 : 1;
      context.fillRect(x, top + laneHeight - 9, end - x, 2);
      covered = end;
    }
    context.globalAlpha = 1;
    this.stripeOverlaps(context, lane, top);
    if (chosen) {
      context.strokeStyle = colors.text;
      context.lineWidth = 2;
      context.strokeRect(chosen[0] - 1, top + 6, chosen[1] - chosen[0] + 2, laneHeight - 10);
    }
  }

  // Stripes over the parts of a lane's turns where others speak as well.
  stripeOverlaps(context, lane, top) {
    const turns = this.byLane[lane], { overlaps } = this;
    const shortest = 3 * this.secondsPerPixel * 1000;
    context.fillStyle = this.stripePattern(context, this.colors.hatch);
    let k = firstOverlap(overlaps, this.start * 1000);
    for (let i = firstReaching(this.reach[lane], this.start); i < turns.length; i += 1) {
      const turn = turns[i];
      if (turn.start / 1000 >= this.end) break;
      while (k < overlaps.length && overlaps[k][1] <= turn.start) k += 1;
      for (let m = k; m < overlaps.length && overlaps[m][0] < turn.end; m += 1) {
        const start = Math.max(turn.start, overlaps[m][0]), end = Math.min(turn.end, overlaps[m][1]);
        if (end - start < shortest) continue;
        const x = Math.max(-4, this.xOf(start / 1000));
        context.fillRect(x, top + 8, Math.min(this.width + 4, this.xOf(end / 1000)) - x, laneHeight - 17);
      }
    }
  }

  drawPlayhead(context) {
    const x = this.xOf(this.position);
    if (x < -8 || x > this.width + 8) return;
    context.fillStyle = this.colors.playhead;
    context.fillRect(x - 1, axisHeight - 8, 2, this.height - axisHeight + 8);
    context.beginPath();
    context.moveTo(x - 6, axisHeight - 14);
    context.lineTo(x + 6, axisHeight - 14);
    context.lineTo(x, axisHeight - 5);
    context.fill();
  }

  // The whole recording: drawn once per state and size, the window over it in every frame.
  drawOverview() {
    const context = this.overview.getContext('2d'), width = this.overviewWidth, height = 46;
    if (this.overviewStale) {
      this.overviewStale = false;
      this.picture = this.picture || document.createElement('canvas');
      this.picture.width = this.overview.width;
      this.picture.height = this.overview.height;
      this.paintOverview(this.picture.getContext('2d'), width, height);
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.picture, 0, 0);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    const left = this.start / this.duration * width, right = this.end / this.duration * width;
    context.fillStyle = this.colors.sunken;
    context.globalAlpha = 0.72;
    context.fillRect(0, 0, left, height);
    context.fillRect(right, 0, width - right, height);
    context.globalAlpha = 1;
    context.strokeStyle = this.colors.accent;
    context.lineWidth = 2;
    context.strokeRect(left + 1, 1, Math.max(2, right - left - 2), height - 2);
    context.fillStyle = this.colors.playhead;
    context.fillRect(this.position / this.duration * width - 1, 0, 2, height);
  }

  paintOverview(context, width, height) {
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.fillStyle = this.colors.sunken;
    context.fillRect(0, 0, width, height);
    const count = Math.ceil(width), each = this.duration / width;
    const heights = new Float32Array(count).fill(this.waveform ? 0 : 0.6);
    if (this.waveform) this.waveform.heights('peak', 0, each, count, heights);
    for (let x = 0; x < count; x += 1) {
      // The colour of whoever has most of this column.
      const first = Math.floor(x * each * 20), end = Math.max(first + 1, Math.floor((x + 1) * each * 20));
      const votes = new Map();
      for (let i = first; i < end && i < this.owner.length; i += 1)
        votes.set(this.owner[i], (votes.get(this.owner[i]) || 0) + 1);
      let owner = 0, most = 0;
      for (const [who, count_] of votes) if (who !== 0 && count_ > most) [owner, most] = [who, count_];
      context.fillStyle = owner === 0 ? this.colors.wave : owner === 255 ? this.colors.text
        : this.colors.speakers[owner - 1];
      const h = Math.max(1, heights[x] * (height - 10));
      context.fillRect(x, (height - h) / 2, 1, h);
    }
  }
}
