// The list beside the lanes, and the dialog that renames and merges.

/** Seconds and share per speaker of a state. */
function speakerTotals(state) {
  const totals = state.speakers.map(() => ({ milliseconds: 0, turns: 0 }));
  for (const turn of state.turns) {
    totals[turn.speaker].milliseconds += turn.end - turn.start;
    totals[turn.speaker].turns += 1;
  }
  return totals;
}

/** An element with attributes and children; text is always text, never markup. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function dotOf(state, speaker) {
  return element('span', { class: `dot color-${state.speakers[speaker].color % speakerColors}`, 'aria-hidden': 'true' });
}

function fillSpeakerList(list, state, visible, duration, choose) {
  const totals = speakerTotals(state);
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.speaker : null;
  list.replaceChildren(...visible.map((speaker) => {
    const { milliseconds, turns } = totals[speaker];
    const share = Math.round(milliseconds / 10 / Math.max(duration, 0.001));
    const name = state.speakers[speaker].name;
    const button = element('button', {
      type: 'button', class: 'speaker', 'data-speaker': speaker, 'aria-haspopup': 'dialog', title: name,
      'aria-label': `${name}, ${clockText(milliseconds, 0)} in ${turns} turns, ${share} % of the recording: rename or merge`,
    }, dotOf(state, speaker), element('span', { class: 'name' }, name),
    element('span', { class: 'share' }, `${share} %`));
    button.addEventListener('click', () => choose(speaker));
    return element('li', {}, button);
  }));
  if (focused !== null) {
    const again = list.querySelector(`[data-speaker="${Number(focused)}"]`);
    if (again) again.focus();
  }
}

function fillSpeakerSelect(select, state, visible, first) {
  const before = select.value;
  select.replaceChildren(...(first ? [element('option', { value: '' }, first)] : []),
    ...visible.map((speaker) => element('option', { value: speaker }, state.speakers[speaker].name)));
  if ([...select.options].some((option) => option.value === before)) select.value = before;
}

class SpeakerDialog {
  constructor(elements, history, visible) {
    Object.assign(this, { elements, history, visible });
    elements.cancel.addEventListener('click', () => elements.dialog.close());
    elements.form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (this.save()) elements.dialog.close();
    });
    elements.name.addEventListener('input', () => this.note());
    elements.merge.addEventListener('change', () => this.note());
  }

  open(speaker) {
    const { elements } = this, { state } = this.history;
    this.speaker = speaker;
    const total = speakerTotals(state)[speaker];
    elements.title.textContent = state.speakers[speaker].name;
    elements.facts.textContent = `${clockText(total.milliseconds, 1)} of speech in ${total.turns} turns`;
    elements.name.value = state.speakers[speaker].name;
    const others = this.visible().filter((each) => each !== speaker);
    elements.merge.value = '';
    fillSpeakerSelect(elements.merge, state, others, 'Nobody: keep as a speaker');
    elements.merge.disabled = others.length === 0;
    this.note();
    elements.dialog.showModal();
    elements.name.select();
  }

  // The other speaker who has the name already, -1 for none.
  namesake() {
    const name = this.elements.name.value.trim(), { speakers } = this.history.state;
    return this.visible().findIndex((each) => each !== this.speaker && speakers[each].name === name);
  }

  note() {
    const { elements } = this, merging = elements.merge.value !== '';
    elements.name.disabled = merging;
    elements.save.textContent = merging || this.namesake() >= 0 ? 'Merge' : 'Save';
    elements.note.textContent = !merging && this.namesake() >= 0
      ? 'Another speaker has this name: the two become one.'
      : elements.name.value.trim() === '' && !merging ? 'A speaker needs a name.' : '';
    elements.save.disabled = elements.name.value.trim() === '' && !merging;
  }

  save() {
    const { elements, history, speaker } = this, { state } = history;
    const name = elements.name.value.trim(), old = state.speakers[speaker].name;
    const same = this.namesake();
    const into = elements.merge.value !== '' ? Number(elements.merge.value)
      : same >= 0 ? this.visible()[same] : null;
    if (into !== null) {
      history.do(`${old} merged into ${state.speakers[into].name}`, merged(state, speaker, into));
      return true;
    }
    if (name === '') return false;
    if (name !== old) history.do(`${old} renamed to ${name}`, renamed(state, speaker, name));
    return true;
  }
}
