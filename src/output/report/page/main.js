// Puts the parts together.

function download(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = element('a', { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

function startReport() {
  const get = (id) => document.getElementById(id);
  const data = JSON.parse(get('report-data').textContent);
  const baseName = (data.uri || 'recording').replace(/[\u0000-\u001f/\\:*?"<>|]/g, '_');
  const history = new History(makeState(data), (what) => { refresh(); announce(what); });
  const waveform = data.wave ? new Waveform(data.wave) : null;
  const timeline = new Timeline(data.duration, waveform,
    { lanes: get('lanes'), overview: get('overview'), frame: get('timeline') });
  const player = new Player(get('audio'),
    { note: get('audio-note'), text: get('audio-text'), file: get('audio-file') },
    data.audio, timeline.duration, () => move());
  const list = new TurnList({
    form: get('filter'), name: get('filter-name'), speaker: get('filter-speaker'), length: get('filter-length'),
    confidence: get('filter-confidence'), overlap: get('filter-overlap'), matches: get('matches'),
    rows: get('rows'), caption: get('turns-caption'), pager: document.querySelector('.pager'),
    pageText: get('page-text'), first: get('page-first'), previous: get('page-previous'),
    next: get('page-next'), last: get('page-last'), frame: document.querySelector('.table-frame'),
  }, { filter: () => refilter(), choose: (turn, play) => choose(turn, play) });
  let visible = [], overlaps = [], selected = null, running = false, spoken = '';

  const dialog = new SpeakerDialog({
    dialog: get('speaker-dialog'), form: get('speaker-form'), title: get('speaker-dialog-title'),
    facts: get('speaker-dialog-facts'), name: get('speaker-name'), note: get('speaker-name-note'),
    merge: get('speaker-merge'), cancel: get('speaker-cancel'), save: get('speaker-save'),
  }, history, () => visible);

  function announce(text) { get('live').textContent = text; }

  // Who speaks at a time, as words.
  function speakersAt(seconds) {
    const { state } = history, at = seconds * 1000, names = [];
    visible.forEach((speaker, lane) => {
      const turns = timeline.byLane[lane];
      for (let i = firstReaching(timeline.reach[lane], seconds); i < turns.length && turns[i].start <= at; i += 1)
        if (turns[i].end > at) return names.push(state.speakers[speaker].name);
      return 0;
    });
    return names.join(' and ') || 'nobody';
  }

  function refresh() {
    const { state } = history;
    const used = new Set(state.turns.map((turn) => turn.speaker));
    visible = state.speakers.map((_, i) => i).filter((i) => used.has(i));
    overlaps = overlapsOf(state.turns);
    if (selected && !state.turns.includes(selected))
      selected = state.turns.find((turn) => turn.start === selected.start && turn.end === selected.end) || null;
    timeline.show(state, visible, overlaps);
    fillSpeakerList(get('speakers'), state, visible, timeline.duration, (speaker) => dialog.open(speaker));
    fillSpeakerSelect(get('filter-speaker'), state, visible, 'Everybody');
    fillSpeakerSelect(get('selected-speaker'), state, visible, null);
    get('undo').disabled = history.at === 0;
    get('redo').disabled = history.at + 1 === history.states.length;
    const plural = (count, what) => `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;
    get('facts').textContent = [clockText(timeline.duration * 1000, 0), plural(visible.length, 'speaker'),
      plural(state.turns.length, 'turn')].join(' · ') + (history.edited ? ' · edited' : '');
    refilter();
    showSelected();
    move();
  }

  function refilter() {
    const { state } = history, touches = overlapTest(overlaps);
    const turns = filteredTurns(state, touches, list.readFilter());
    timeline.matching = turns.length === state.turns.length ? null : new Set(turns);
    list.show(state, turns, touches);
    timeline.requestDraw();
  }

  function showSelected() {
    const { state } = history;
    timeline.selected = selected;
    list.mark(selected);
    get('selected-speaker').disabled = get('remove').disabled = selected === null;
    if (selected === null) {
      get('selected-text').textContent = state.turns.length ? 'No turn is selected' : '';
    } else {
      get('selected-speaker').value = selected.speaker;
      get('selected-text').textContent = `Turn ${(state.turns.indexOf(selected) + 1).toLocaleString('en')} of ` +
        `${state.turns.length.toLocaleString('en')}: ${clockText(selected.start)} to ${clockText(selected.end)}, ` +
        `${secondsText(selected.end - selected.start)} s` +
        (data.confidence ? `, confidence ${(selected.confidence / 1000).toFixed(2)}` : '');
    }
    timeline.requestDraw();
  }

  function choose(turn, play) {
    selected = turn;
    player.seek(turn.start / 1000);
    timeline.reveal(turn.start / 1000);
    showSelected();
    list.reveal(turn);
    announce(`${history.state.speakers[turn.speaker].name}, ${clockText(turn.start, 1)} to ${clockText(turn.end, 1)}`);
    if (play) player.play();
  }

  function step(direction) {
    const turns = list.turns;
    if (turns.length === 0) return;
    const at = turns.indexOf(selected);
    const now = player.now() * 1000;
    const next = at >= 0 ? at + direction
      : direction > 0 ? turns.findIndex((turn) => turn.start >= now) : turns.findLastIndex((turn) => turn.start < now);
    const turn = turns[Math.min(turns.length - 1, Math.max(0, at < 0 && next < 0 ? (direction > 0 ? turns.length - 1 : 0) : next))];
    choose(turn, false);
  }

  // Shows where the playhead is; while something plays, once per frame.
  function move() {
    const now = player.now(), playing = player.playing;
    timeline.position = now;
    if (playing) timeline.reveal(now);
    timeline.requestDraw();
    get('now').textContent = clockText(now * 1000, 1);
    const button = get('play');
    if (button.getAttribute('aria-pressed') !== String(playing)) {
      button.setAttribute('aria-pressed', String(playing));
      button.setAttribute('aria-label', playing ? 'Pause' : 'Play');
    }
    const who = timeline.state ? speakersAt(now) : 'nobody';
    const slider = get('timeline');
    slider.setAttribute('aria-valuenow', now.toFixed(1));
    slider.setAttribute('aria-valuetext', `${clockText(now * 1000, 1)}, ${who === 'nobody' ? 'nobody speaks' : who}`);
    get('speaking').textContent = who === 'nobody' ? '' : who;
    if (playing && who !== spoken) announce(who === 'nobody' ? 'Silence' : who);
    spoken = who;
    if (playing && !running) {
      running = true;
      const tick = () => {
        if (!player.playing) { running = false; move(); return; }
        move();
        requestAnimationFrame(tick);
      };
      requestAnimationFrame(tick);
    }
  }

  function seekBy(seconds) {
    player.seek(player.now() + seconds);
    timeline.reveal(player.now());
    announce(`${clockText(player.now() * 1000, 1)}, ${speakersAt(player.now())}`);
  }

  function seekTo(seconds) { seekBy(seconds - player.now()); }

  function assign(speaker) {
    if (selected === null || !visible.includes(speaker) || speaker === selected.speaker) return;
    const turn = selected, { state } = history;
    history.do(`Turn at ${clockText(turn.start, 1)} given to ${state.speakers[speaker].name}`, reassigned(state, turn, speaker));
    selected = history.state.turns.find((each) => each.speaker === speaker && each.start <= turn.start && each.end >= turn.end) || null;
    showSelected();
  }

  function removeSelected() {
    if (selected === null) return;
    const turn = selected;
    selected = null;
    history.do(`Turn at ${clockText(turn.start, 1)} removed`, removed(history.state, turn));
  }

  function exportAs(format) {
    const { state } = history;
    if (format === 'rttm') download(baseName + '.rttm', rttmText(data.uri, state.speakers, state.turns), 'text/plain;charset=utf-8');
    else download(baseName + '.json', jsonText(data.document, state, history.edited), 'application/json');
    history.markExported();
    announce(`${baseName}.${format} exported`);
  }

  const darkWish = matchMedia('(prefers-color-scheme: dark)');
  function isDark() {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === 'dark' : darkWish.matches;
  }
  function showTheme() {
    get('theme').setAttribute('aria-pressed', String(isDark()));
    timeline.readColors();
  }
  function toggleTheme() {
    document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
    document.querySelector('meta[name="color-scheme"]').content = document.documentElement.dataset.theme;
    showTheme();
  }
  darkWish.addEventListener('change', showTheme);

  const middle = () => (player.now() >= timeline.start && player.now() <= timeline.end
    ? player.now() : (timeline.start + timeline.end) / 2);
  const keys = [
    ['Space', [' '], 'play or pause', () => player.toggle()],
    ['← →', ['ArrowLeft', 'ArrowRight'], 'one second back or on; ten with Shift', (event) => seekBy((event.key === 'ArrowLeft' ? -1 : 1) * (event.shiftKey ? 10 : 1))],
    ['↑ ↓', ['ArrowUp', 'ArrowDown'], 'previous or next turn, in the timeline', (event) => step(event.key === 'ArrowUp' ? -1 : 1), 'timeline'],
    ['p n', ['p', 'n'], 'previous or next turn of those that match the filter', (event) => step(event.key === 'p' ? -1 : 1)],
    ['+ −', ['+', '=', '-', '_'], 'zoom in or out', (event) => timeline.zoom('+='.includes(event.key) ? 1.6 : 1 / 1.6, middle())],
    ['f', ['f', '0'], 'whole recording', () => timeline.fit()],
    ['Home End', ['Home', 'End'], 'to the start or end, in the timeline', (event) => seekTo(event.key === 'Home' ? 0 : timeline.duration), 'timeline'],
    ['PgUp PgDn', ['PageUp', 'PageDown'], 'a view back or on, in the timeline', (event) => timeline.pan((event.key === 'PageUp' ? -0.9 : 0.9) * (timeline.end - timeline.start)), 'timeline'],
    ['1 … 9', '123456789'.split(''), 'give the selected turn to this lane’s speaker', (event) => assign(visible[Number(event.key) - 1])],
    ['e', ['e'], 'rename or merge the selected turn’s speaker', () => { if (selected) dialog.open(selected.speaker); }],
    ['Delete', ['Delete'], 'remove the selected turn', () => removeSelected()],
    ['Ctrl Z', [], 'undo; with Shift do again', null],
    ['/', ['/'], 'filter by name', () => get('filter-name').focus()],
    ['t', ['t'], 'light or dark', () => toggleTheme()],
    ['?', ['?'], 'this list', () => get('help').showModal()],
  ];
  get('keys').append(...keys.flatMap(([label, , text]) => [
    element('dt', {}, ...label.split(' ').flatMap((key, i) => (i ? [' ', element('kbd', {}, key)] : [element('kbd', {}, key)]))),
    element('dd', {}, text)]));
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || document.querySelector('dialog[open]')) return;
    const target = event.target, typing = target.matches && target.matches('input, select, textarea');
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !typing && 'zy'.includes(event.key.toLowerCase())) {
      event.preventDefault();
      if (event.key.toLowerCase() === 'y' || event.shiftKey) history.redo();
      else history.undo();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || typing) return;
    const inTimeline = target === get('timeline');
    if (!inTimeline && !get('single-keys').checked) return;
    // Buttons keep their space bar, and a table that scrolls its arrows.
    if (event.key === ' ' && target.matches('button, [role="button"], a')) return;
    if (event.key.startsWith('Arrow') && target.matches('.table-frame')) return;
    const found = keys.find(([, names, , action, where]) => action && names.includes(event.key) && (where !== 'timeline' || inTimeline));
    if (!found) return;
    event.preventDefault();
    found[3](event);
  });

  attachGestures(timeline, {
    click: (x, y) => {
      const turn = timeline.turnAt(x, y);
      if (turn) {
        selected = turn;
        showSelected();
        list.reveal(turn);
      }
      player.seek(timeline.timeAt(x));
      if (player.ready) player.play();
    },
    seek: (time) => player.seek(time),
    describe: (x, y) => {
      const turn = timeline.turnAt(x, y);
      return turn ? `${history.state.speakers[turn.speaker].name}\n${clockText(turn.start)} – ${clockText(turn.end)}` +
        (data.confidence ? `\nconfidence ${(turn.confidence / 1000).toFixed(2)}` : '') : '';
    },
  });

  const on = (id, action) => get(id).addEventListener('click', action);
  on('play', () => player.toggle());
  on('zoom-in', () => timeline.zoom(1.6, middle()));
  on('zoom-out', () => timeline.zoom(1 / 1.6, middle()));
  on('zoom-fit', () => timeline.fit());
  on('undo', () => history.undo());
  on('redo', () => history.redo());
  on('export-rttm', () => exportAs('rttm'));
  on('export-json', () => exportAs('json'));
  on('theme', toggleTheme);
  on('help-open', () => get('help').showModal());
  on('remove', removeSelected);
  on('previous', () => step(-1));
  on('next', () => step(1));
  get('selected-speaker').addEventListener('change', (event) => assign(Number(event.target.value)));
  get('rate').addEventListener('change', (event) => { get('audio').playbackRate = Number(event.target.value); });
  get('timeline').setAttribute('aria-valuemax', timeline.duration.toFixed(1));
  get('total').textContent = clockText(timeline.duration * 1000, 1);
  get('footer').textContent = data.footer;
  document.body.classList.toggle('no-confidence', !data.confidence);
  addEventListener('beforeunload', (event) => { if (history.unsaved) event.preventDefault(); });

  refresh();
  showTheme();
  player.start(get('report-audio').textContent.trim());
  return { timeline, history, player, list };
}

if (typeof document !== 'undefined') window.diarist = startReport();
