// The recording's outline: bytes under a square-root law, at several resolutions.

function bytesOfBase64(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Levels at half, a quarter, ... of the resolution; each entry covers two of the one before. */
function pyramidOf(base, pick) {
  const levels = [base];
  while (levels[levels.length - 1].length > 1024) {
    const below = levels[levels.length - 1];
    const level = new Uint8Array(Math.ceil(below.length / 2));
    for (let i = 0; i < level.length; i += 1) {
      const a = below[2 * i];
      level[i] = pick(a, 2 * i + 1 < below.length ? below[2 * i + 1] : a);
    }
    levels.push(level);
  }
  return levels;
}

class Waveform {
  constructor(wave) {
    const peak = bytesOfBase64(wave.peak), power = bytesOfBase64(wave.power);
    this.peak = { perSecond: wave.perSecond, levels: pyramidOf(peak, Math.max) };
    this.power = {
      perSecond: wave.perSecond / wave.powerStep,
      levels: pyramidOf(power, (a, b) => Math.round(Math.sqrt((a * a + b * b) / 2))),
    };
    // A quiet recording fills the lane as well; clicks beyond 99.9 % of the levels may be cut off.
    const counts = new Uint32Array(256);
    for (const value of peak) counts[value] += 1;
    let level = 255, above = 0;
    while (level > 1 && above + counts[level] <= peak.length / 1000) above += counts[level--];
    this.gain = 1 / Math.max(level / 255, 0.02) ** 2;
  }

  /** Heights 0..1 of `count` columns of `width` seconds from `start` on, written to `out`. */
  heights(kind, start, width, count, out) {
    const { perSecond, levels } = this[kind];
    const wanted = Math.log2(Math.max(1, width * perSecond));
    const depth = Math.min(levels.length - 1, Math.floor(wanted));
    const level = levels[depth], rate = perSecond / 2 ** depth;
    for (let i = 0; i < count; i += 1) {
      const first = Math.floor((start + i * width) * rate);
      const end = Math.max(first + 1, Math.ceil((start + (i + 1) * width) * rate));
      let value = 0;
      for (let k = Math.max(0, first); k < end && k < level.length; k += 1)
        if (level[k] > value) value = level[k];
      out[i] = Math.min(1, (value / 255) ** 2 * this.gain);
    }
  }
}
