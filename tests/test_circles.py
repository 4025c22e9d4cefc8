"""Circles among modules: what the tool finds in small crates."""

from pathlib import Path

import circles


def crate(folder: Path, **files: str) -> circles.Modules:
    """A crate with these files; `__` in a name is `/`."""
    for name, text in files.items():
        file = folder / f"{name.replace('__', '/')}.rs"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return circles.crate(folder)


def test_a_circle_is_found_through_a_module_that_exports_again(tmp_path: Path) -> None:
    found = circles.circle(
        crate(
            tmp_path,
            lib="mod a;\nmod b;\n",
            a__mod="mod inner;\npub use inner::Thing;\n",
            a__inner="pub struct Thing;\nfn f() { crate::b::helps() }\n",
            b="use crate::a::{self, Thing};\npub fn helps() {}\n",
        )
    )
    inner, b = ("crate", "a", "inner"), ("crate", "b")
    assert {(step.by, step.of) for step in found} >= {(inner, b)}
    assert len(found) == 2


def test_a_module_is_one_with_its_children_and_tests_do_not_count(tmp_path: Path) -> None:
    modules = crate(
        tmp_path,
        lib="mod a;\nmod b;\n",
        a__mod="mod inner;\npub struct Thing;\nfn f() { inner::g() }\n",
        a__inner="use super::Thing;\n// crate::b::helps\npub fn g() {}\n",
        b="use crate::a::Thing;\npub fn helps() {}\n",
    )
    assert len(list(circles.imports(modules))) == 3
    assert circles.circle(modules) == []
    tests = "\n#[cfg(test)]\nmod tests {\n    use crate::b::helps;\n}\n"
    (tmp_path / "a" / "inner.rs").write_text("pub fn g() {}\n" + tests)
    assert circles.circle(circles.crate(tmp_path)) == []
    (tmp_path / "a" / "inner.rs").write_text("pub fn g() { crate::b::helps() }\n" + tests)
    assert circles.circle(circles.crate(tmp_path)) != []


def test_imports_inside_functions_of_python_do_not_count(tmp_path: Path) -> None:
    source = tmp_path / "made"
    source.mkdir()
    (source / "__init__.py").write_text("")
    (source / "a.py").write_text("from made import b\n")
    (source / "b.py").write_text("def f() -> None:\n    from made import a\n")
    assert circles.circle(circles.package(source)) == []
    (source / "b.py").write_text("import made.a\n")
    assert len(circles.circle(circles.package(source))) == 2
