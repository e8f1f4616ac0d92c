// The recording: embedded in the page, beside it, or chosen by the reader. Without it the playhead
// still moves where it is put.

class Player {
  constructor(audio, elements, facts, duration, moved) {
    this.audio = audio;
    this.elements = elements;
    this.facts = facts;
    this.duration = duration;
    this.moved = moved;  // called when the position or the state changes
    this.position = 0;
    this.ready = false;
    this.url = null;
    audio.addEventListener('loadedmetadata', () => {
      this.ready = true;
      audio.currentTime = this.position;
      elements.note.hidden = true;
      this.moved();
    });
    audio.addEventListener('error', () => this.refused());
    for (const event of ['play', 'pause', 'ended', 'seeked']) audio.addEventListener(event, () => this.moved());
    elements.file.addEventListener('change', () => {
      if (elements.file.files.length > 0) this.take(elements.file.files[0], elements.file.files[0].name);
    });
  }

  start(embedded) {
    const { type, href } = this.facts;
    if (embedded) this.take(new Blob([bytesOfBase64(embedded)], { type }), this.facts.name);
    else if (href) this.audio.src = href;
    else this.ask('To listen, choose the recording on this computer; it stays here.');
  }

  take(blob, name) {
    if (this.url) URL.revokeObjectURL(this.url);
    this.ready = false;
    this.chosen = name;
    this.url = URL.createObjectURL(blob);
    this.audio.src = this.url;
  }

  refused() {
    this.ready = false;
    const name = this.chosen || this.facts.name;
    this.ask(this.chosen ? `This browser does not play ${name}; try it as WAV, MP3 or M4A.`
      : `${name} is not beside this page, or this browser does not play it.`);
  }

  ask(text) {
    this.elements.text.textContent = text;
    this.elements.note.hidden = false;
    this.moved();
  }

  get playing() { return this.ready && !this.audio.paused && !this.audio.ended; }

  now() {
    if (this.ready && !this.audio.seeking) this.position = Math.min(this.duration, this.audio.currentTime);
    return this.position;
  }

  seek(seconds) {
    this.position = Math.min(this.duration, Math.max(0, seconds));
    if (this.ready) this.audio.currentTime = this.position;
    this.moved();
  }

  play() {
    if (this.ready) this.audio.play().catch(() => this.refused());
    else this.elements.file.focus();
  }

  toggle() {
    if (this.playing) this.audio.pause();
    else this.play();
  }
}
