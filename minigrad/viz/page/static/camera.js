// What of the picture is seen: pan, zoom, pinch, fit.

const NEAREST = 3;
const FARTHEST = 0.05;
const FAR = 0.25; // no text can be read
const LARGEST = 1.4;
const LEGIBLE = 1060; // a stage so wide begins with text of 12 pixels at least, and of a smaller one less
const NEAR = 400; // pixels
const BAR = 48; // what the buttons at the foot of the stage cover
const LARGE = 4e6; // square pixels

/** Let a picture be moved within its stage; `canvas` holds all that is drawn, `moved` is told. */
function camera(stage, svgElement, canvas, told) {
  const view = { x: 0, y: 0, scale: 1 };
  let size = [1, 1];
  const pointers = new Map();
  let moved = 0;

  /** Show what is in view; the style sheet says how long a slow move takes. */
  function show(slowly = false) {
    const { x, y, scale } = view;
    canvas.classList.toggle("gliding", slowly);
    canvas.classList.toggle("far", scale < FAR);
    canvas.style.transform = `scale(${scale}) translate(${-x}px, ${-y}px)`;
    told();
  }
  /** Move there, slowly unless it is far or the picture large: a browser paints all that moves. */
  function glide(target) {
    const way = max(abs(target.x - view.x), abs(target.y - view.y)) * target.scale;
    Object.assign(view, target);
    show(way < NEAR && size[0] * size[1] < LARGE);
  }
  function zoom(factor, at = [stage.clientWidth / 2, stage.clientHeight / 2]) {
    const scale = min(NEAREST, max(FARTHEST, view.scale * factor));
    view.x += at[0] / view.scale - at[0] / scale;
    view.y += at[1] / view.scale - at[1] / scale;
    view.scale = scale;
    show();
  }
  /** Where all of the picture can be seen, in the middle of the stage. */
  function whole(scale) {
    const [width, height] = [stage.clientWidth, stage.clientHeight];
    scale ??= max(FARTHEST, min(width / size[0], height / size[1], LARGEST));
    return { scale, x: (size[0] - width / scale) / 2, y: (size[1] - height / scale) / 2 };
  }
  const at = (event) => {
    const box = stage.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  const turned = (event) => {
    event.preventDefault();
    const speed = event.deltaMode ? 0.05 : event.ctrlKey ? 0.01 : 0.0015;
    zoom(Math.exp(-event.deltaY * speed), at(event));
  };
  stage.addEventListener("wheel", turned, { passive: false });
  svgElement.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    pointers.set(event.pointerId, at(event));
    moved = 0;
  });
  svgElement.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = at(event);
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    moved += abs(dx) + abs(dy);
    if (moved > 4) svgElement.setPointerCapture(event.pointerId);
    if (pointers.size === 2) {
      const [other] = [...pointers].find(([id]) => id !== event.pointerId).slice(1);
      const gap = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]);
      zoom(gap(now) / max(gap(before), 1), [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2]);
    }
    view.x -= dx / view.scale / pointers.size;
    view.y -= dy / view.scale / pointers.size;
    pointers.set(event.pointerId, now);
    show();
  });
  for (const end of ["pointerup", "pointercancel"]) {
    svgElement.addEventListener(end, (event) => pointers.delete(event.pointerId));
  }
  return {
    zoom,
    /** The view, in the picture's own units: left, top, right, bottom. */
    area() {
      const { x, y, scale } = view;
      return [x, y, x + stage.clientWidth / scale, y + stage.clientHeight / scale];
    },
    /** Whether the last press was a drag, not a click. */
    dragged: () => moved > 4,
    resize(width, height) {
      size = [width, height];
    },
    /** All of the picture. */
    fit: () => glide(whole()),
    /** All of the picture, or as much of it from the top as can be read. */
    begin() {
      Object.assign(view, whole());
      const legible = 1.2 * min(1, stage.clientWidth / LEGIBLE);
      if (view.scale < legible) Object.assign(view, whole(max(legible, 0.75)), { y: 0 });
      show();
    },
    /** Bring an area to where it can be seen, moving no more than needed. */
    reveal([x, y, width, height]) {
      const wide = stage.clientWidth / view.scale;
      const high = (stage.clientHeight - BAR) / view.scale;
      const rim = 40 / view.scale;
      const into = (from, room, start, length) => {
        if (start < from + rim || length + 2 * rim > room) return start - rim;
        return max(from, start + length + rim - room);
      };
      glide({ ...view, x: into(view.x, wide, x, width), y: into(view.y, high, y, height) });
    },
    /** Keep the top of an area where it is on the screen although the picture changed. */
    hold(before, after) {
      view.x += after[0] + after[2] / 2 - before[0] - before[2] / 2;
      view.y += after[1] - before[1];
      show();
    },
  };
}
