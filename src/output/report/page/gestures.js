// Mouse, touch and wheel on the timeline and on the overview.

const dragThreshold = 4;  // pixels before a press becomes a drag

/** `actions`: click(x, y), and `timeline` is zoomed and moved here. */
function attachGestures(timeline, actions) {
  const frame = timeline.frame, pointers = new Map();
  let dragged = false, pinch = null;

  const place = (event) => {
    const box = frame.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const pinchOf = () => {
    const [a, b] = [...pointers.values()];
    return { distance: Math.max(10, Math.abs(a.x - b.x)), middle: (a.x + b.x) / 2 };
  };

  frame.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    pointers.set(event.pointerId, { ...place(event), from: place(event) });
    frame.setPointerCapture(event.pointerId);
    if (pointers.size === 1) dragged = false;
    if (pointers.size === 2) {
      dragged = true;
      pinch = pinchOf();
    }
  });
  frame.addEventListener('pointermove', (event) => {
    const pointer = pointers.get(event.pointerId);
    if (!pointer) {
      const at = place(event);
      frame.title = actions.describe(at.x, at.y);
      return;
    }
    const now = place(event), before = pointer.x;
    Object.assign(pointer, now);
    if (pointers.size === 2) {
      const next = pinchOf();
      timeline.pan((pinch.middle - next.middle) * timeline.secondsPerPixel);
      timeline.zoom(next.distance / pinch.distance, timeline.timeAt(next.middle));
      pinch = next;
      return;
    }
    if (!dragged && Math.abs(now.x - pointer.from.x) < dragThreshold) return;
    if (!dragged) {
      dragged = true;
      frame.classList.add('dragging');
      timeline.pan((pointer.from.x - now.x) * timeline.secondsPerPixel);
      return;
    }
    timeline.pan((before - now.x) * timeline.secondsPerPixel);
  });
  const release = (event) => {
    const pointer = pointers.get(event.pointerId);
    pointers.delete(event.pointerId);
    if (pointers.size === 0) frame.classList.remove('dragging');
    if (pointer && !dragged && event.type === 'pointerup') actions.click(pointer.x, pointer.y);
  };
  frame.addEventListener('pointerup', release);
  frame.addEventListener('pointercancel', release);

  frame.addEventListener('wheel', (event) => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const sideways = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      timeline.pan(sideways * unit * timeline.secondsPerPixel);
      return;
    }
    // A pinch on a touchpad arrives as a wheel with Ctrl and small steps.
    const speed = event.ctrlKey ? 0.01 : 0.0016;
    const factor = Math.exp(-Math.max(-240, Math.min(240, event.deltaY * unit)) * speed);
    timeline.zoom(factor, timeline.timeAt(place(event).x));
  }, { passive: false });

  const overview = timeline.overview;
  let holding = false;
  const jump = (event) => {
    const box = overview.getBoundingClientRect();
    const time = (event.clientX - box.left) / box.width * timeline.duration;
    const length = timeline.end - timeline.start;
    if (length >= timeline.duration) return time;
    timeline.setView(time - length / 2, time + length / 2);
    return time;
  };
  overview.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    holding = true;
    overview.setPointerCapture(event.pointerId);
    if (timeline.end - timeline.start >= timeline.duration) actions.seek(jump(event));
    else jump(event);
  });
  overview.addEventListener('pointermove', (event) => { if (holding) jump(event); });
  for (const end of ['pointerup', 'pointercancel'])
    overview.addEventListener(end, () => { holding = false; });
}
