// The turns and what can be done to them. A state is never changed: every edit makes a new one, so
// undo is a step back in a list.
//
// state = {speakers: [{name, color}], turns: [turn], exclusive: [turn]}
// turn = {start, end, length, speaker, confidence}: milliseconds, index, thousandths. `length` is
// what RTTM prints; rounding may make it one millisecond more or less than end - start.

function makeState(data) {
  const turn = ([start, end, speaker, confidence, length]) =>
    ({ start, end, speaker, confidence, length });
  return {
    speakers: data.speakers.map((name, color) => ({ name, color })),
    turns: data.turns.map(turn),
    exclusive: data.exclusive.map(turn),
  };
}

function byTime(a, b) {
  return a.start - b.start || a.end - b.end || a.speaker - b.speaker;
}

function withTimes(turn, start, end) {
  return { ...turn, start, end, length: end - start };
}

/** Turns in order, those of `speaker` that overlap or touch joined into one. */
function joined(turns, speaker) {
  const result = [];
  let last = null;
  for (const turn of [...turns].sort(byTime)) {
    if (turn.speaker === speaker && last !== null && turn.start <= last.end) {
      const a = last.end - last.start, b = turn.end - turn.start;
      last.confidence = Math.round((last.confidence * a + turn.confidence * b) / Math.max(1, a + b));
      last.end = Math.max(last.end, turn.end);
      last.length = last.end - last.start;
      continue;
    }
    const copy = { ...turn };
    if (turn.speaker === speaker) last = copy;
    result.push(copy);
  }
  return result.sort(byTime);
}

function renamed(state, speaker, name) {
  const speakers = state.speakers.map((each, i) => (i === speaker ? { ...each, name } : each));
  return { ...state, speakers };
}

/** All turns of `from` become those of `into`; the speaker `from` stays without turns. */
function merged(state, from, into) {
  const moved = (turns) =>
    joined(turns.map((turn) => (turn.speaker === from ? { ...turn, speaker: into } : turn)), into);
  return { ...state, turns: moved(state.turns), exclusive: moved(state.exclusive) };
}

// Gives what `turns` say of one speaker within [start, end) to another, or to nobody (null).
function relabeled(turns, speaker, other, start, end) {
  const result = [];
  for (const turn of turns) {
    if (turn.speaker !== speaker || turn.end <= start || turn.start >= end) {
      result.push(turn);
      continue;
    }
    if (turn.start < start) result.push(withTimes(turn, turn.start, start));
    if (turn.end > end) result.push(withTimes(turn, end, turn.end));
    const from = Math.max(start, turn.start), to = Math.min(end, turn.end);
    if (other === null) continue;
    const whole = from === turn.start && to === turn.end;
    result.push({ ...(whole ? turn : withTimes(turn, from, to)), speaker: other });
  }
  return other === null ? result.sort(byTime) : joined(result, other);
}

/** One turn goes to another speaker. */
function reassigned(state, turn, speaker) {
  const turns = state.turns.map((each) => (each === turn ? { ...turn, speaker } : each));
  return {
    ...state,
    turns: joined(turns, speaker),
    exclusive: relabeled(state.exclusive, turn.speaker, speaker, turn.start, turn.end),
  };
}

function removed(state, turn) {
  return {
    ...state,
    turns: state.turns.filter((each) => each !== turn),
    exclusive: relabeled(state.exclusive, turn.speaker, null, turn.start, turn.end),
  };
}

/** Stretches [start, end] with two or more speakers, in order. */
function overlapsOf(turns) {
  const edges = [];
  for (const turn of turns) edges.push([turn.start, 1], [turn.end, -1]);
  edges.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const overlaps = [];
  let depth = 0;
  for (const [time, change] of edges) {
    const before = depth;
    depth += change;
    if (before < 2 && depth >= 2) overlaps.push([time, time]);
    if (before >= 2 && depth < 2) overlaps[overlaps.length - 1][1] = time;
  }
  return overlaps.filter(([start, end]) => end > start);
}

/** States with a way back. `changed` is called after every step. */
class History {
  constructor(state, changed) {
    this.states = [{ state, what: '' }];
    this.at = 0;
    this.exported = 0;
    this.changed = changed;
  }

  get state() { return this.states[this.at].state; }
  get edited() { return this.at > 0; }
  get unsaved() { return this.at !== this.exported; }

  do(what, state) {
    this.states.length = this.at + 1;
    if (this.exported > this.at) this.exported = -1;
    this.states.push({ state, what });
    this.at += 1;
    this.changed(what);
  }

  undo() {
    if (this.at === 0) return;
    const what = this.states[this.at].what;
    this.at -= 1;
    this.changed(`Undone: ${what}`);
  }

  redo() {
    if (this.at + 1 === this.states.length) return;
    this.at += 1;
    this.changed(`Done again: ${this.states[this.at].what}`);
  }

  markExported() { this.exported = this.at; }
}
