"""The package for users: sdist and wheel, built and installed in fresh environments outside the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from support.checkout import ROOT
from support.shared_folders import once

import htppower
from docs.man_pages import man_pages
from htppower.profiles.names import SHIPPED_PROFILES

TOP = {"htppower", "profiles", "tests", "docs"}


def _build(folder: Path) -> None:
    """Build sdist and wheel, the wheel from the sdist as ``build`` does."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def dists(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return sdist and wheel, built once."""
    folder = once(tmp_path_factory, "dist", _build)
    return {"wheel": next(folder.glob("*.whl")), "sdist": next(folder.glob("*.tar.gz"))}


def _environment(folder: Path) -> Path:
    """Make a fresh environment that sees this one's libraries, but not its htppower, and return its Python.

    The libraries are shared and not downloaded again: only the install itself is tested.
    """
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    site = subprocess.run(
        [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    lent = [entry for entry in sys.path if entry.endswith("site-packages")]
    (Path(site) / "lent.pth").write_text("\n".join(lent), encoding="utf-8")
    return python


def _install(python: Path, *what: str) -> None:
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-build-isolation"]
    # Compiling all packages would take longer than installing them.
    done = subprocess.run(
        [*command, "--disable-pip-version-check", "--force-reinstall", "--no-compile", "--quiet", *what],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _run(python: Path, folder: Path, *args: str) -> str:
    """Run Python in a folder outside the checkout."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(python), *args], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_an_installed_package_runs_the_dry_run(dists: dict[str, Path], tmp_path: Path, kind: str) -> None:
    """Installed from wheel or sdist, outside the checkout, the dry run finds the profiles of the package."""
    python = _environment(tmp_path / "venv")
    _install(python, str(dists[kind]))
    output = _run(python, tmp_path, "-m", "htppower", "profile", "burst", "--dry-run", "--format", "json")
    document = json.loads(output)
    source = Path(document["source"])
    assert tmp_path in source.parents
    assert document["summary"]["native_calls"] == 14
    script = python.parent / ("htppower.exe" if os.name == "nt" else "htppower")
    listed = subprocess.run([str(script), "list"], capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    assert all(name in listed for name in SHIPPED_PROFILES)


def test_the_index_would_take_both_and_show_the_description(dists: dict[str, Path]) -> None:
    """``twine check --strict`` has no warning about sdist or wheel."""
    done = subprocess.run(
        [sys.executable, "-m", "twine", "--no-color", "check", "--strict", *map(str, dists.values())],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASSED") == len(dists)


def test_the_tutorial_can_be_followed_with_the_wheel_alone(dists: dict[str, Path], tmp_path: Path) -> None:
    """Installed from the wheel, htppower prints what the tutorial shows."""
    python = _environment(tmp_path / "venv")
    _install(python, str(dists["wheel"]))
    assert ROOT not in Path(_run(python, tmp_path, "-c", "import htppower; print(htppower.__file__)")).parents
    _run(python, ROOT, "-m", "docs.tutorial", "--check", "--installed")


def test_an_editable_install_uses_the_profiles_of_the_checkout(tmp_path: Path) -> None:
    """With -e, the profiles of the checkout are used, so that an edit has effect at once."""
    python = _environment(tmp_path / "venv")
    _install(python, "--editable", str(ROOT))
    output = _run(python, tmp_path, "-m", "htppower", "profile", "burst", "--dry-run", "--format", "json")
    assert Path(json.loads(output)["source"]) == ROOT / "profiles" / "burst.yaml"


def test_the_wheel_holds_the_package_and_its_profiles_only(dists: dict[str, Path]) -> None:
    """It has every profile, state and man page, the header, the typing marker, the plugin's entry; no tests or docs."""
    with zipfile.ZipFile(dists["wheel"]) as wheel:
        names = set(wheel.namelist())
        (entries,) = (name for name in names if name.endswith("dist-info/entry_points.txt"))
        assert "[pytest11]\nhtppower = htppower.testing.pytest_plugin" in wheel.read(entries).decode()
    for name in SHIPPED_PROFILES:
        assert f"htppower/shipped_profiles/{name}.yaml" in names
    assert "htppower/shipped_profiles/states/relaxed.yaml" in names
    assert "htppower/shipped_profiles/tests/burst.yaml" in names
    assert "htppower/shipped_profiles/schemas/profile.json" in names
    assert "htppower/client/include/htppower.h" in names
    assert "htppower/py.typed" in names
    data = {name.partition(".data/data/")[2] for name in names if ".data/" in name}
    assert data == {f"share/man/man1/{page}" for page in man_pages()}
    assert {name.split("/")[0] for name in names if "dist-info" not in name and ".data/" not in name} == {"htppower"}


def test_importing_loads_no_native_library_and_starts_nothing() -> None:
    """Importing htppower imports none of its parts, no scheduler and no ctypes, and starts no thread."""
    code = (
        "import sys, threading, htppower;"
        "heavy = {'apscheduler', 'transitions', 'yaml', 'click', 'rich', 'ctypes'};"
        "print(sorted(heavy & set(sys.modules)), threading.active_count(), htppower.VoteController.__name__)"
    )
    assert _run(Path(sys.executable), ROOT.parent, "-c", code) == "[] 1 VoteController\n"


def test_every_public_name_exists() -> None:
    """Every name in __all__ exists and is in dir(); an unknown name is an AttributeError."""
    assert all(getattr(htppower, name) is not None for name in htppower.__all__)
    assert set(htppower.__all__) <= set(dir(htppower))
    assert all(getattr(htppower.backends, name) is not None for name in htppower.backends.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = htppower.nothing  # type: ignore[attr-defined]
