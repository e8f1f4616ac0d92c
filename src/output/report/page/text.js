// Text that other programs read: clocks, RTTM and JSON as diarist itself writes them.

/** Milliseconds as "1:02.345", from one hour on "1:01:02.345"; `decimals` 0 to 3. */
function clockText(milliseconds, decimals = 3) {
  const unit = 10 ** (3 - decimals);
  const whole = Math.max(0, decimals === 3 ? Math.round(milliseconds) : Math.floor(milliseconds / unit) * unit);
  const seconds = Math.floor(whole / 1000);
  const pad = (value, width) => String(value).padStart(width, '0');
  const rest = decimals > 0 ? '.' + pad(whole % 1000, 3).slice(0, decimals) : '';
  const minutes = Math.floor(seconds / 60);
  const tail = pad(seconds % 60, 2) + rest;
  return minutes < 60 ? `${minutes}:${tail}` : `${Math.floor(minutes / 60)}:${pad(minutes % 60, 2)}:${tail}`;
}

/** Milliseconds as "12.345". */
function secondsText(milliseconds) {
  return `${Math.floor(milliseconds / 1000)}.${String(milliseconds % 1000).padStart(3, '0')}`;
}

// White space (all of Unicode's), control characters and '%', as in diarist's RTTM writer.
const escapedInFields =
  /[\u0000-\u0020\u007f\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000%]/g;

/** A name as one field of RTTM: %XX for every byte that would break the line. */
function encodeField(text) {
  if (text === '') return '<NA>';
  return text.replace(escapedInFields, (character) =>
    Array.from(new TextEncoder().encode(character),
      (byte) => '%' + byte.toString(16).toUpperCase().padStart(2, '0')).join(''));
}

/** RTTM of turns {start, end, length, speaker}, all in milliseconds. */
function rttmText(uri, speakers, turns) {
  return turns.map((turn) =>
    `SPEAKER ${encodeField(uri)} 1 ${secondsText(turn.start)} ${secondsText(turn.length)} <NA> <NA> ` +
    `${encodeField(speakers[turn.speaker].name)} <NA> <NA>\n`).join('');
}

function turnLines(speakers, turns) {
  if (turns.length === 0) return '[]';
  return '[\n' + turns.map((turn) =>
    `    {"start": ${secondsText(turn.start)}, "end": ${secondsText(turn.end)}, ` +
    `"speaker": ${JSON.stringify(speakers[turn.speaker].name)}, ` +
    `"confidence": ${secondsText(turn.confidence)}}`).join(',\n') + '\n  ]';
}

function speakerLines(speakers, turns) {
  const lines = speakers.map((speaker, index) => {
    const own = turns.filter((turn) => turn.speaker === index);
    const total = own.reduce((sum, turn) => sum + turn.end - turn.start, 0);
    return own.length === 0 ? '' :
      `    {"name": ${JSON.stringify(speaker.name)}, "seconds": ${secondsText(total)}, "turns": ${own.length}}`;
  }).filter((line) => line !== '');
  return lines.length === 0 ? '[]' : '[\n' + lines.join(',\n') + '\n  ]';
}

/** JSON of docs/json.md. `document` holds the keys that edits don't touch, in their order. */
function jsonText(document, state, edited) {
  const written = {
    turns: () => turnLines(state.speakers, state.turns),
    exclusive_turns: () => turnLines(state.speakers, state.exclusive),
    speakers: () => speakerLines(state.speakers, state.turns),
  };
  const lines = [];
  for (const key of Object.keys(document)) {
    if (edited && key === 'timings') lines.push('  "edited": true');
    const value = written[key] ? written[key]() :
      JSON.stringify(document[key], null, 2).replace(/\n/g, '\n  ');
    lines.push(`  ${JSON.stringify(key)}: ${value}`);
  }
  return `{\n${lines.join(',\n')}\n}\n`;
}
