// The table of turns: filtered, a page at a time; all of it on paper.

const rowsPerPage = 100;

/** What a filter keeps: {name, speaker, shorterThan, confidenceBelow, overlap}; null = not asked. */
function filteredTurns(state, overlaps, filter) {
  const wanted = filter.name.toLocaleLowerCase();
  const names = state.speakers.map((speaker) => speaker.name.toLocaleLowerCase().includes(wanted));
  return state.turns.filter((turn) =>
    names[turn.speaker] &&
    (filter.speaker === null || turn.speaker === filter.speaker) &&
    (filter.shorterThan === null || turn.end - turn.start < filter.shorterThan * 1000) &&
    (filter.confidenceBelow === null || turn.confidence < filter.confidenceBelow * 1000) &&
    (!filter.overlap || overlaps(turn)));
}

/** A function that tells whether a turn touches an overlap. */
function overlapTest(overlaps) {
  return (turn) => {
    const first = firstOverlap(overlaps, turn.start);
    return first < overlaps.length && overlaps[first][0] < turn.end;
  };
}

class TurnList {
  constructor(elements, actions) {
    Object.assign(this, { elements, actions });
    this.page = 0;
    this.turns = [];
    this.everything = false;  // for printing
    const turnPage = (page) => {
      this.page = page;
      this.draw();
      elements.frame.scrollTop = 0;
    };
    elements.first.addEventListener('click', () => turnPage(0));
    elements.previous.addEventListener('click', () => turnPage(this.page - 1));
    elements.next.addEventListener('click', () => turnPage(this.page + 1));
    elements.last.addEventListener('click', () => turnPage(this.pages - 1));
    for (const type of ['input', 'change']) elements.form.addEventListener(type, () => actions.filter());
    elements.form.addEventListener('reset', () => setTimeout(() => actions.filter(), 0));
    elements.form.addEventListener('submit', (event) => event.preventDefault());
    addEventListener('beforeprint', () => this.showAll(true));
    addEventListener('afterprint', () => this.showAll(false));
  }

  get pages() { return Math.max(1, Math.ceil(this.turns.length / rowsPerPage)); }

  readFilter() {
    const { elements } = this;
    const number = (input) => (input.value === '' || !Number.isFinite(Number(input.value)) ? null : Number(input.value));
    return {
      name: elements.name.value.trim(),
      speaker: elements.speaker.value === '' ? null : Number(elements.speaker.value),
      shorterThan: number(elements.length),
      confidenceBelow: number(elements.confidence),
      overlap: elements.overlap.checked,
    };
  }

  show(state, turns, overlaps) {
    Object.assign(this, { state, turns, overlaps });
    this.numbers = new Map(state.turns.map((turn, i) => [turn, i + 1]));
    this.page = Math.min(this.page, this.pages - 1);
    const all = state.turns.length.toLocaleString('en');
    this.elements.matches.textContent = turns.length === state.turns.length ? `${all} in all`
      : `${turns.length.toLocaleString('en')} of ${all} match`;
    this.draw();
  }

  showAll(everything) {
    this.everything = everything;
    this.draw();
  }

  /** Turns to the page of a turn and brings its row into view. */
  reveal(turn) {
    const index = this.turns.indexOf(turn);
    if (index >= 0 && Math.floor(index / rowsPerPage) !== this.page) {
      this.page = Math.floor(index / rowsPerPage);
      this.draw();
    }
    this.mark(turn);
    const row = this.rowOf && this.rowOf.get(turn);
    if (!row) return;
    // Only the frame scrolls: the page stays where the reader has put it.
    const { frame } = this.elements, head = 40;
    if (row.offsetTop < frame.scrollTop + head) frame.scrollTop = row.offsetTop - head;
    else if (row.offsetTop + row.offsetHeight > frame.scrollTop + frame.clientHeight)
      frame.scrollTop = row.offsetTop + row.offsetHeight - frame.clientHeight;
  }

  mark(turn) {
    if (this.marked) this.marked.removeAttribute('aria-current');
    this.marked = (this.rowOf && this.rowOf.get(turn)) || null;
    if (this.marked) this.marked.setAttribute('aria-current', 'true');
    this.selected = turn;
  }

  row(turn) {
    const { state, actions } = this, name = state.speakers[turn.speaker].name;
    const seek = element('button', { type: 'button', class: 'seek', 'aria-label': `Play from ${clockText(turn.start)}, ${name}` }, clockText(turn.start));
    const fill = element('i');
    fill.style.width = turn.confidence / 10 + '%';
    const row = element('tr', {},
      element('td', { class: 'number' }, String(this.numbers.get(turn))),
      element('td', {}, dotOf(state, turn.speaker), name),
      element('td', { class: 'number' }, seek),
      element('td', { class: 'number' }, clockText(turn.end)),
      element('td', { class: 'number' }, secondsText(turn.end - turn.start)),
      element('td', { class: 'confidence-column' }, element('span', { class: 'bar', 'aria-hidden': 'true' }, fill),
        (turn.confidence / 1000).toFixed(2)),
      element('td', {}, this.overlaps(turn) ? 'yes' : ''));
    row.addEventListener('click', (event) => actions.choose(turn, event.target === seek));
    return row;
  }

  draw() {
    const { elements, turns } = this;
    const first = this.everything ? 0 : this.page * rowsPerPage;
    const shown = this.everything ? turns : turns.slice(first, first + rowsPerPage);
    this.rowOf = new Map(shown.map((turn) => [turn, this.row(turn)]));
    if (shown.length > 0) elements.rows.replaceChildren(...this.rowOf.values());
    else elements.rows.replaceChildren(element('tr', {}, element('td', { colspan: 7, class: 'nothing' },
      this.state.turns.length === 0 ? 'Nobody speaks in this recording' : 'No turn matches the filter')));
    const text = shown.length === 0 ? 'No rows'
      : `${(first + 1).toLocaleString('en')}–${(first + shown.length).toLocaleString('en')} of ${turns.length.toLocaleString('en')}`;
    elements.pageText.textContent = text;
    elements.caption.textContent = `Turns in order of time, rows ${text}`;
    elements.pager.hidden = this.pages === 1;
    elements.first.disabled = elements.previous.disabled = this.page === 0;
    elements.next.disabled = elements.last.disabled = this.page === this.pages - 1;
    this.mark(this.selected);
  }
}
