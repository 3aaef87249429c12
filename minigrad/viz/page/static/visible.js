// The part of the picture in the document: all of a small one, of a large one only the view.

const WHOLE = 200; // up to so many boxes, all are drawn: a screen reader finds them
const AROUND = 400; // pixels around the view where things are drawn too: the Tab key reaches them

const layers = Object.fromEntries(
  "frames edges gradients boxes shapes badges".split(" ").map((name) => [name, svg.g({ class: name })]),
);
let items = []; // all that can be drawn
let drawn = []; // the area within which everything is drawn: left, top, right, bottom

/** Begin anew, with nothing drawn. */
function setItems(all) {
  for (const layer of Object.values(layers)) layer.replaceChildren();
  items = all;
  drawn = [];
}

/** The items of a layer that are in the document. */
const inDocument = (layer) => items.filter((item) => item.element && item.layer === layer);

/** Draw what has come into view and take away what has left it; returns whether anything did. */
function drawVisible([left, top, right, bottom], rim = AROUND) {
  const [west, north, east, south] = drawn;
  if (left >= west && top >= north && right <= east && bottom <= south) return false;
  const all = Object.keys(placement.boxes).length <= WHOLE;
  drawn = all ? [0, 0, 0, 0].map((_, at) => (at < 2 ? -Infinity : Infinity))
    : [left - rim, top - rim, right + rim, bottom + rim];
  const last = {}; // of each layer, the element before the next one
  for (const item of items) {
    const [x, y, width, height] = item.area;
    const seen = x <= drawn[2] && x + width >= drawn[0] && y <= drawn[3] && y + height >= drawn[1];
    if (seen && !item.element) {
      item.element = item.draw();
      if (last[item.layer]) last[item.layer].after(item.element);
      else layers[item.layer].prepend(item.element);
    } else if (!seen && item.element && !item.element.contains(document.activeElement)) {
      item.element.remove();
      item.mark?.remove();
      item.element = item.mark = null;
    }
    if (item.element) last[item.layer] = item.element;
  }
  return true;
}
