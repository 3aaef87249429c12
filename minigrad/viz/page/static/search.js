// Searching for a box by name, kind, shape and module: a text field with a list.

const MOST = 50;

/** How well a box fits: 0 if its name is the typed text, more if that is only a part, or elsewhere. */
function rankOf({ id }, typed) {
  const name = nameOf(id).toLowerCase();
  return name === typed ? 0 : name.startsWith(typed) ? 1 : name.includes(typed) ? 2 : 3;
}

function search() {
  const field = $("query");
  const list = $("found");
  let found = [];
  let chosen = 0;

  let about; // of each box, all that it can be found by
  const all = everything();
  const aboutOf = ({ id, kind, shape, samples }) => {
    const shapes = [shapeText(shape, samples), shape.join("x"), shape.join(",")];
    const words = [nameOf(id), kind, data.group.get(id)?.module, ...shapes, ...pathOf(id)];
    return words.join(" ").toLowerCase();
  };
  function look() {
    about ??= all.map(aboutOf);
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (_, at) => words.every((word) => about[at].includes(word));
    found = words.length ? all.filter(fits) : [];
    const typed = words.join(" ");
    found.sort((one, other) => rankOf(one, typed) - rankOf(other, typed));
    chosen = 0;
    show();
  }
  function show() {
    const rows = found.slice(0, MOST).map((node, at) => {
      const onclick = () => choose(at);
      return e.li(
        { role: "option", id: `found-${at}`, "aria-selected": String(at === chosen), onclick },
        e.b(nameOf(node.id)),
        ` ${node.kind} ${shapeText(node.shape, node.samples)}`,
        e.small(pathOf(node.id).join(" › ")),
      );
    });
    const more = found.length - MOST;
    const any = !!field.value.trim();
    const told = more > 0 ? `and ${more} more` : any && !found.length ? "nothing found" : "";
    if (told) rows.push(e.li({ role: "option", "aria-disabled": "true" }, told));
    list.replaceChildren(...rows);
    list.hidden = !any;
    field.setAttribute("aria-expanded", any);
    field.setAttribute("aria-activedescendant", found.length ? `found-${chosen}` : "");
    rows[chosen]?.scrollIntoView({ block: "nearest" });
  }
  function choose(at) {
    const node = found[at];
    field.value = "";
    look();
    if (node) go.box(node.id, true);
  }
  field.addEventListener("input", look);
  field.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const length = min(found.length, MOST);
    if (by && length) {
      chosen = (chosen + by + length) % length;
      show();
    } else if (event.key === "Enter") choose(chosen);
    else if (event.key === "Escape") {
      choose(-1);
      field.blur();
    } else if (!by) return;
    event.preventDefault();
  });
}
