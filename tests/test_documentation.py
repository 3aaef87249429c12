"""Whatever the documentation shows, runs: docstring examples, and every page of Markdown.

In README.md, CONTRIBUTING.md, docs/ and examples/ a ```python block is executed; a ```pycon block
is executed and what it prints is compared, as in a docstring. The picture of a graph below a block
is the drawing of its last value. The blocks of one page share their names, from top to bottom. Only
docs/recipes.md has programs that stand alone: each is run as a script.
"""

import doctest
import importlib
import inspect
import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gallery
import pytest
from pages import blocks_of, examples_of, run
from printed import FLAGS, Checker
from write_notebook import GUIDE, chapters

import minigrad

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([
    ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "examples").glob("*.md"),
])  # fmt: skip
RECIPES = ROOT / "docs" / "recipes.md"
MOST_BOXES = 16
"""In a drawing of the guide: as many as a reader takes in beside a text."""

PUBLIC = ["minigrad"]
PUBLIC += [
    f"minigrad.{name}"
    for name in (
        "autograd", "autograd.functional", "autograd.graph", "data", "debugging", "distributed",
        "distributions", "func", "io", "learn", "linalg", "nn", "nn.by_hand", "nn.functional",
        "nn.generation", "nn.init", "nn.utils", "onnx", "optim", "optim.lr_scheduler",
        "optim.swa_utils", "pretrained", "random", "special", "viz",
    )
]  # fmt: skip

NO_VERBS = {
    "A", "All", "An", "At", "Each", "For", "From", "How", "In", "Its", "One", "The", "What",
    "Where", "Whether", "Which",
}  # fmt: skip
"""Words with which the docstring of a function does not begin."""

WEIGHTS = ["safetensors", "tokenizers"]
NEEDS = {
    "minigrad.nn.layers.einops_layers": ["einops"],
    "minigrad.nn.source_documents.attention": ["einops"],
    "minigrad.onnx.exporter": ["onnx", "onnxruntime"],
    **{f"minigrad.pretrained.{name}": WEIGHTS for name in ("bert_folder", "folder", "gpt2_folder")},
    "docs/interplay.md": ["array_api_compat", "einops", "einx"],
    "docs/onnx.md": ["onnx", "onnxruntime"],
    "docs/pretrained.md": WEIGHTS,
    "docs/source_documents.md": ["array_api_compat", "einops", "einx"],
}
"""The modules and pages whose examples need more than minigrad does."""


SLOW = ("docs/guide/transformer.md", "examples/lucid_port.md")
"""Pages that train a model."""


def shown(name: str, value: Any) -> Any:
    """The parameter of a test of examples: skipped where they need what is not there."""
    marks = [pytest.mark.needs(*NEEDS[name])] if name in NEEDS else []
    slow = [pytest.mark.slow] if name in SLOW else []
    return pytest.param(value, id=name, marks=marks + slow)


def modules_in(folder: Path, package: str) -> Iterator[str]:
    """The dotted names of every module of a package that has examples."""
    for path in folder.rglob("*.py"):
        if ">>> " in path.read_text(encoding="utf-8"):
            parts = path.relative_to(folder).with_suffix("").parts
            yield ".".join((package, *(part for part in parts if part != "__init__")))


MODULES = sorted([
    *modules_in(ROOT / "minigrad", "minigrad"), *modules_in(ROOT / "nn", "minigrad.nn"),
])  # fmt: skip


def run_doctests(tests: list[doctest.DocTest]) -> None:
    """Run examples, and fail with the report that doctest writes."""
    report: list[str] = []
    runner = doctest.DocTestRunner(Checker(), optionflags=FLAGS)
    for test in tests:
        runner.run(test, out=report.append, clear_globs=False)
    if runner.summarize(verbose=False).failed:
        pytest.fail("".join(report), pytrace=False)


def test_both_packages_are_walked() -> None:
    some = "tensors.tensor autograd.engine nn.attention.multi_head"
    assert {f"minigrad.{name}" for name in some.split()} <= {*MODULES}
    assert {*NEEDS} <= {*MODULES, *(page.relative_to(ROOT).as_posix() for page in PAGES)}


@pytest.mark.usefixtures("global_random")
@pytest.mark.parametrize("name", [shown(name, name) for name in MODULES])
def test_docstring_examples(name: str) -> None:
    """Each example starts from nothing, so that it can be copied as it is."""
    module = importlib.import_module(name)
    run_doctests(doctest.DocTestFinder(exclude_empty=True).find(module, globs={}))


RUN = [page for page in PAGES if blocks_of(page.read_text("utf-8")) and page != RECIPES]


@pytest.mark.parametrize("page", [shown(page.relative_to(ROOT).as_posix(), page) for page in RUN])
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks_of(page.read_text(encoding="utf-8")):
        if block.language == "pycon":
            parts = (names, page.name, str(page), block.line, block.code)
            test = doctest.DocTest(examples_of(block), *parts)
            test.globs = names  # not a copy: what it binds, the next block sees
            run_doctests([test])
            continue
        value = run(block, names, page.name)  # the lines of a trace name it
        if block.picture:
            picture = (page.parent / block.picture).read_text(encoding="utf-8")
            assert value.to_svg() == picture, f"{block.picture} is old: python tools/drawings.py"
            rows = getattr(value, "rows", None)  # a captured step
            boxes = len(value.collapse().nodes) if rows is None else len(rows)
            assert 3 <= boxes <= MOST_BOXES, f"{page.name}:{block.line}: {boxes} boxes"


def test_the_first_program_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program = blocks_of((ROOT / "README.md").read_text(encoding="utf-8"))[0]
    run(program, {"__name__": "__main__"}, "README.md")
    (said,) = re.findall(r"^print\(.*\) +# (.*)$", program.code, re.MULTILINE)
    assert capsys.readouterr().out.splitlines()[0] == said


def test_the_sizes_that_the_readme_tells() -> None:
    """Within a hundredth: the files of the engine, all lines, and those of its core."""
    sizes = {path.stem: len(path.read_bytes().splitlines())
             for path in (ROOT / "minigrad" / "autograd").glob("*.py")}  # fmt: skip
    core = [sizes[name] for name in ("node", "plan", "primitives", "call", "engine")]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    told = (
        r"\[(\d+) files\].*\s+([\d,]+) lines, ([\d,]+) of them the core(?s:.*)engine \| ([\d,]+) \|"
    )
    (found,) = re.findall(told, text)
    said = [int(number.replace(",", "")) for number in found]
    assert said == pytest.approx([len(sizes), sum(sizes.values()), sum(core), said[1]], rel=0.01)


def recipes() -> Iterator[Any]:
    """The parameters of a test of recipes: the script below each heading, and what it needs."""
    text = RECIPES.read_text(encoding="utf-8")
    sections = re.compile(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    for heading, section in sections.findall(text):
        script = "".join(block.code for block in blocks_of(section))
        imported = {*re.findall(r"^(?:from|import) (\w+)", script, re.MULTILINE)}
        needs = sorted(imported - {"minigrad", "numpy", *sys.stdlib_module_names})
        marks = [pytest.mark.needs(*needs), pytest.mark.slow] if needs else ()
        yield pytest.param(script, id=heading, marks=marks)


@pytest.mark.usefixtures("global_random")  # some packages draw from it when they are imported
@pytest.mark.parametrize("script", list(recipes()))
def test_recipe_runs_as_a_script(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From nothing, in a file, which other processes that it starts can read."""
    assert "\nassert " in script.replace("    assert", "assert"), "a recipe shows that it works"
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "recipe.py"
    path.write_text(script, encoding="utf-8")
    runpy.run_path(str(path), run_name="__main__")
    if "n_jobs" in script:  # joblib keeps its processes for later
        loky = importlib.import_module("joblib.externals.loky")
        loky.get_reusable_executor().shutdown()


def test_each_chapter_of_the_guide_has_its_picture() -> None:
    *pages, reading = chapters()
    assert len(pages) == 21
    assert reading.stem == "reading"
    assert {*pages, reading} == {*GUIDE.glob("*.md")} - {GUIDE / "index.md"}
    contents = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = [
        GUIDE / f"{name}.md" for name in re.findall(r"^guide/(?!index)(\w+)$", contents, re.M)
    ]
    assert listed == [*pages, reading], "docs/index.md lists the chapters in another order"
    for page in pages:
        pictures = [block.picture for block in blocks_of(page.read_text(encoding="utf-8"))]
        assert [*filter(None, pictures)] == [f"../_static/graphs/{page.stem}.svg"]
    exercises = r"\n## Exercises\n\n(- \[\d+\]\(\.\./learn\.md\): .*\n)+\Z"
    for page in (*pages, reading):
        assert re.search(exercises, page.read_text("utf-8")), page.name


def test_what_the_reading_order_points_at_is_there() -> None:
    text = (GUIDE / "reading.md").read_text(encoding="utf-8")
    engine = ROOT / "minigrad/autograd"
    named = {name for name in re.findall(r"`(\w+\.py)`", text) if (engine / name).exists()}
    files = {path.name for path in engine.glob("*.py")} - {"__init__.py"}
    assert named == files, "the guide does not name every file of the engine, and those alone"
    order = re.findall(r"`(\w+\.py)`", (engine / "README.md").read_text(encoding="utf-8"))
    assert {*order} - {"__init__.py"} <= files
    entries = re.findall(r"\*\*`(\S+)`\*\*(.*?)(?=\*\*`|\n\n(?! )|$)", text, re.DOTALL)
    for path, advice in entries[: len(files) + 1]:
        source = (ROOT / path if "/" in path else engine / path).read_text(encoding="utf-8")
        for name in re.findall(r"`(\w+)`", advice):
            assert re.search(rf"\b{name}\b", source), f"{path} has no {name}"
    for path in re.findall(r"`([\w]+/[\w/]+\.py)`", text):
        assert (ROOT / path).exists(), path


def public_names() -> Iterator[tuple[str, Any]]:
    """Every public function and class of ours, with the name that a user imports."""
    for name in PUBLIC:
        module = importlib.import_module(name)
        for export in module.__all__:
            value = getattr(module, export, None)
            ours = (getattr(value, "__module__", None) or "").startswith("minigrad")
            if callable(value) and ours:
                yield f"{name}.{export}", value


def place(value: Any) -> str:
    """Where something is defined, as file:line."""
    value = inspect.unwrap(value)
    path = Path(inspect.getsourcefile(value) or "").resolve()
    return f"{path.relative_to(ROOT)}:{inspect.getsourcelines(value)[1]}"


def test_public_names_are_explained_with_an_example() -> None:
    """With one of their own, or by the name of what they stand for, which has one."""
    docs = {name: (value, inspect.getdoc(value) or "") for name, value in public_names()}
    shown = {name.rpartition(".")[2] for name, (_, doc) in docs.items() if ">>> " in doc}
    bare = [
        f"{place(value)}: {name}"
        for name, (value, doc) in docs.items()
        if ">>> " not in doc and shown.isdisjoint(re.findall(r"`(?:\w+\.)*(\w+)`", doc))
    ]
    assert not bare, "\n".join(["Add a docstring with a >>> example to", *bare])


def test_public_methods_are_explained() -> None:
    """By a docstring of their own, or of the method that they override."""
    bare = [
        f"{place(owner)}: {name}.{method}"
        for name, owner in public_names()
        if inspect.isclass(owner)
        for method, value in inspect.getmembers(owner)
        if not method.startswith("_") and (callable(value) or isinstance(value, property))
        if not inspect.getdoc(value)
    ]
    assert not bare, "\n".join(["Add a docstring to", *bare])


def test_functions_begin_with_a_verb_and_classes_with_a_noun() -> None:
    """A class in small letters, such as `no_grad`, is used as a function."""
    verbs, nouns = {}, {}
    for name, value in public_names():
        function = not inspect.isclass(value) or value.__name__.islower()
        (verbs if function else nouns)[name] = value
        for method in vars(value) if inspect.isclass(value) else ():
            member = getattr(value, method, None)
            if method.startswith("_") or inspect.isclass(member):
                continue
            if callable(member) or isinstance(member, property):
                (verbs if callable(member) else nouns)[f"{name}.{method}"] = member
    texts = {name: inspect.getdoc(value) or "" for name, value in (verbs | nouns).items()}
    begins = {name: text.split(" ")[0] for name, text in texts.items()}
    known = {begins[name] for name in verbs}
    wrong = [name for name in verbs if begins[name] in NO_VERBS or not begins[name].isalpha()]
    wrong += [name for name in nouns if begins[name] in known - NO_VERBS]
    listed = [f"{name}: {begins[name]} ..." for name in wrong if begins[name]]
    assert not listed, "\n".join(["Begin with a verb (a function), a noun (a class):", *listed])


def test_everything_public_is_in_the_reference() -> None:
    """Pages of docs/api name a whole module, or one by one what they describe."""
    described = set()
    for page in (ROOT / "docs" / "api").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        for directive, names in re.findall(r"^\.\. (\w+):: ([\w. ]+)", text, re.MULTILINE):
            if directive in ("functions", "automodule"):  # docs/_ext/families.py
                prefix = "minigrad." if directive == "functions" else ""
                whole = [importlib.import_module(prefix + name) for name in names.split()]
                values = [getattr(each, name) for each in whole for name in each.__all__]
                described |= {id(inspect.unwrap(value)) for value in values}
            elif directive == "currentmodule":
                module = importlib.import_module(names)
            else:
                described.add(id(inspect.unwrap(getattr(module, names))))
    missing = [name for name, value in public_names() if id(inspect.unwrap(value)) not in described]
    assert not missing, f"Add to a page of docs/api, by name, file or module: {', '.join(missing)}"


def test_exports_exist_once() -> None:
    for name in PUBLIC:
        module = importlib.import_module(name)
        exports = module.__all__
        assert len({*exports}) == len(exports), f"{name}.__all__ has a name twice"
        missing = [export for export in exports if not hasattr(module, export)]
        assert not missing, f"{name}.__all__ names what {name} lacks: {missing}"


def test_changelog_names_this_version() -> None:
    assert f"## [{minigrad.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


# Pictures ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.needs("matplotlib")
def test_a_figure_follows_the_mode_of_its_reader(tmp_path: Path) -> None:
    figures = importlib.import_module("figures")
    for name in figures.FIGURES:
        figures.save(name, tmp_path / "figure.svg")
        head, _, drawn = (tmp_path / "figure.svg").read_text(encoding="utf-8").partition("</style>")
        assert "@media (prefers-color-scheme:dark)" in head
        assert "var(--text)" in drawn
        assert not re.findall("#[0-9a-f]{6};", drawn), f"{name}: a colour of one mode"


def test_every_picture_is_on_a_page() -> None:
    docs = ROOT / "docs"
    text = "\n".join(page.read_text(encoding="utf-8") for page in docs.rglob("*.md"))
    static = docs / "_static"
    there = {path.relative_to(static).as_posix() for path in static.rglob("*.*")}
    pictures = {name for name in there if not name.endswith(".css")}
    assert pictures == {*re.findall(r"_static/([\w./]+)\)", text)}


def test_the_gallery_lists_every_program() -> None:
    assert {*gallery.ORDER} == {*gallery.names()}
    assert gallery.listed() == gallery.LISTED.read_text("utf-8"), "tools/gallery.py --docs"
