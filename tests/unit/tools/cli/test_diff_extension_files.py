"""``htppower diff`` of the vendor's extension files compares their votes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.command import Command

CHAT = """\
{"devices": [{"soc_model": 69,
  "cores": [{"core_id": 0, "perf_profile": "burst",
    "rpc_control_latency": 100}]}],
 "memory": {"mem_type": "shared_buffer"}}
"""
MODE = "QNN_HTP_PERF_INFRASTRUCTURE_POWERMODE_PERFORMANCE_MODE"
START, DONE = ["init_start", "inference_start", "deinit_start"], ["init_done", "inference_done", "deinit_done"]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Return the command in an empty folder, wide enough for a change in one line."""
    monkeypatch.chdir(tmp_path)
    return Command(columns=250)


def write(name: str, text: str | dict[str, Any]) -> str:
    """Write a file; return its name."""
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text(text if isinstance(text, str) else json.dumps(text, indent=1), encoding="utf-8")
    return name


def cores(*each: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return an extension file with cores."""
    return {"devices": [{"cores": list(each)}], **more}


def told(command: Command, *arguments: str, exit_code: int = 1) -> list[tuple[str, str, str, str, str, str, Any]]:
    """Return profile, when, field, old, new, effect and cause of each change."""
    found = json.loads(command.output("diff", *arguments, "--format", "json", exit_code=exit_code))
    keys = ("profile", "when", "field", "old", "new", "effect")
    return [(*(each[key] for key in keys), each["cause"]) for each in found["changes"]]


def item(states: list[str], corner: str, **more: Any) -> dict[str, Any]:
    """Return an item of a custom profile."""
    name = f"DCVS_VOLTAGE_VCORNER_{corner}"
    corners = {f"{clock}VoltageCorner{end}": name for clock in ("bus", "core") for end in ("Min", "Target", "Max")}
    return {"graphState": states, "dcvsControl": {"enableDcvs": True, "powerMode": MODE, **corners}, **more}


def test_a_file_is_compared_with_the_profile_that_it_votes(command: Command) -> None:
    """A file of burst equals burst on either side; another profile differs exactly as the two profiles differ."""
    chat = write("chat.json", CHAT)
    assert told(command, chat, "burst", exit_code=0) == []
    assert told(command, "burst", chat, exit_code=0) == []
    unnamed = ("summary", "profile", "relax.to", "relax.after_deinit_to")
    of_profiles = [change[1:6] for change in told(command, "burst", "balanced") if change[2] not in unnamed]
    assert [change[1:6] for change in told(command, chat, "balanced")] == of_profiles
    found = told(command, "balanced", chat)
    assert {(change[0], change[6]["line"], change[6]["column"]) for change in found if "dcvs" in change[2]} == {
        ("chat.json core 0", 2, 28)
    }


def test_the_place_is_that_of_the_key_that_did_it(command: Command) -> None:
    """The place is the profile, a key next to it, or a removed key with its place in the old file."""
    old = write("old.json", CHAT)
    new = write("new.json", CHAT.replace("100", "200").replace("burst", "high_performance"))
    causes = {change[2]: change[6] for change in told(command, old, new)}
    assert (causes["rpc_control_latency_us"]["line"], causes["rpc_control_latency_us"]["column"]) == (3, 5)
    assert (causes["dcvs_v3.core"]["path"], causes["dcvs_v3.core"]["line"]) == ("new.json", 2)
    timeout = write("timeout.json", CHAT.replace("100}", '100, "hmx_timeout_us": 5000}'))
    (change,) = told(command, timeout, old)
    assert change[2:6] == ("hmx_timeout_us", "5000", "unset", "raises power")
    assert (change[6]["path"], change[6]["line"], change[6]["column"]) == ("timeout.json", 3, 33)
    assert change[6]["removed"] is True
    assert "(timeout.json:3:33 removed)" in command.output("diff", timeout, old, exit_code=1)


def test_what_casts_no_vote_is_told_as_such(command: Command) -> None:
    """The SoC, the memory and unknown keys differ without an effect on votes; the order of keys does not matter."""
    old = write("old.json", CHAT)
    new = write("new.json", CHAT.replace("69", "57").replace('"memory": {', '"other": [1], "memory": {'))
    found = [change[2:6] for change in told(command, old, new)]
    assert sorted(found) == [("devices.0.soc_model", "69", "57", "no vote"), ("other", "unset", "[1]", "no vote")]
    assert command.run("diff", old, new, "--fail-on", "raises-power").exit_code == 0
    assert command.run("diff", old, new, "--fail-on", "no-vote").exit_code == 1
    turned = {"memory": {"mem_type": "shared_buffer"}, **json.loads(CHAT)}
    assert command.run("diff", old, write("turned.json", turned)).exit_code == 0


def test_the_cores_of_a_device_are_compared_together(command: Command) -> None:
    """The vendor's voter uses only the last core's profile; a change of another core sends no vote."""
    one, two = {"core_id": 0, "perf_profile": "burst"}, {"core_id": 1, "perf_profile": "balanced"}
    old = write("old.json", cores(one, two))
    for name, each, called in (("turned.json", (two, one), "cores 1+0"), ("one.json", (one,), "core 0")):
        found = told(command, old, write(name, cores(*each)))
        raised = (f"{name} {called}", "dcvs_v3.core", "NOM_PLUS", "MAX_VOLTAGE_CORNER", "raises power")
        assert raised in [(change[0], *change[2:6]) for change in found]
    in_vain = [change[2:5] for change in told(command, old, "turned.json") if change[5] == "no vote"]
    assert sorted(in_vain) == [
        ("devices.0.cores.0.core_id", "0", "1"),
        ("devices.0.cores.0.perf_profile", '"burst"', '"balanced"'),
        ("devices.0.cores.1.core_id", "1", "0"),
    ]


def test_what_a_later_core_outvotes_casts_no_vote(command: Command) -> None:
    """The change is shown with its place, and raises no power."""
    last = {"core_id": 1, "perf_profile": "balanced", "rpc_polling_time": 9999}
    old = write("old.json", cores({"core_id": 0, "perf_profile": "balanced"}, last))
    new = write("new.json", cores({"core_id": 0, "perf_profile": "burst", "rpc_polling_time": 5}, last))
    found = told(command, old, new)
    assert [change[2:6] for change in found] == [
        ("devices.0.cores.0.perf_profile", '"balanced"', '"burst"', "no vote"),
        ("devices.0.cores.0.rpc_polling_time", "unset", "5", "no vote"),
    ]
    assert command.run("diff", old, new, "--fail-on", "raises-power").exit_code == 0


def test_devices_are_paired_by_their_places_and_graphs_by_name(command: Command) -> None:
    """A graph without its own profile votes as the first device; a device on only one side is added or removed."""
    one, two = {"core_id": 0, "perf_profile": "burst"}, {"core_id": 1, "perf_profile": "balanced"}
    both = write("both.json", {"devices": [{"cores": [one]}, {"cores": [one, two]}]})
    said = command.output("diff", both, write("one.json", cores(one)), "--format", "json", exit_code=1)
    assert json.loads(said)["removed"] == [{"name": "both.json device 1 cores 0+1", "path": "both.json"}]
    graphs = [{"graph_names": ["a", "b"], "perf_profile": "burst"}, {"graph_names": ["c"], "perf_profile": "balanced"}]
    found = told(command, write("plain.json", cores(one)), write("graphs.json", cores(one, graphs=graphs)))
    assert {change[0] for change in found} == {"graphs.json graph c"}
    assert ("dcvs_v3.core", "MAX_VOLTAGE_CORNER", "NOM_PLUS", "lowers power") in [change[2:6] for change in found]


def test_custom_items_are_compared_field_by_field(command: Command) -> None:
    """If an item changes a corner, the difference is shown for the state and the key of that item."""
    old = cores({"core_id": 0, "perf_profile": "custom", "custom": [item(START, "TURBO"), item(DONE, "SVS")]})
    new = json.loads(json.dumps(old))
    new["devices"][0]["cores"][0]["custom"][1]["dcvsControl"]["coreVoltageCornerMax"] = "DCVS_VOLTAGE_VCORNER_NOM"
    found = told(command, write("old.json", old), write("new.json", new))
    assert [change[1:6] for change in found] == [("lowered", "dcvs_v3.core.max", "SVS", "NOM", "raises power")]
    line = Path("new.json").read_text(encoding="utf-8").splitlines()[found[0][6]["line"] - 1]
    assert line.strip().startswith('"coreVoltageCornerMax"')


def test_a_state_with_votes_of_its_own_is_told_by_its_name(command: Command) -> None:
    """An item for INIT alone differs in that state only, whether the other side is a file or a profile."""
    done = item(DONE, "SVS")
    old = write("old.json", cores({"perf_profile": "custom", "custom": [item(START, "NOM"), done]}))
    items = [item(START[1:], "NOM"), item(START[:1], "TURBO"), done]
    new = write("new.json", cores({"perf_profile": "custom", "custom": items}))
    found = told(command, old, new)
    assert [change[1:6] for change in found] == [
        ("init_start", f"dcvs_v3.{clock}", "NOM", "TURBO", "raises power") for clock in ("bus", "core")
    ]
    line = Path("new.json").read_text(encoding="utf-8").splitlines()[found[1][6]["line"] - 1]
    assert "coreVoltageCorner" in line
    assert "TURBO" in line
    assert "init_start" in {change[1] for change in told(command, "burst", new)}


def test_a_refused_file_is_exit_2_with_its_place(command: Command) -> None:
    """A refused file sends no votes, so there is nothing to compare."""
    bad = write("bad.json", CHAT.replace('"burst"', '"brst"'))
    for text, said in (
        (bad, "bad.json:2:44: EXT-"),
        (write("broken.json", '{"devices": ['), "broken.json:1:"),
        ("none.json", "FILE-1"),
    ):
        for sides in ((text, "burst"), ("burst", text)):
            result = command.run("diff", *sides)
            assert (result.exit_code, result.stdout, said in result.stderr) == (2, "", True), (sides, result.stderr)


def test_folders_hold_both(command: Command) -> None:
    """A folder may mix profiles and extension files (named by path); outer files and other JSON are skipped."""
    for side, corner in (("old", "burst"), ("new", "balanced")):
        write(f"{side}/chat.json", cores({"perf_profile": corner}))
        write(f"{side}/mine.yaml", f"profile: mine\nextends: {corner}\n")
        write(f"{side}/package.json", {"name": side})
        write(f"{side}/outer.json", {"backend_extensions": {"config_file_path": "/on/the/device.json"}})
    assert {change[0] for change in told(command, "old", "new")} == {"mine", "chat.json core 0"}


def test_every_form_tells_it(command: Command) -> None:
    """Text, Markdown and the page name core and key; the timelines run each core as its profile."""
    old, new = write("old.json", CHAT), write("new.json", CHAT.replace("burst", "balanced"))
    for form in ("text", "markdown", "html"):
        said = command.output("diff", old, new, "--format", form, exit_code=1)
        assert "new.json core 0" in said
        assert "new.json:2:28" in said
    assert "native calls:" in command.output("diff", old, new, "--timeline", exit_code=1)


def test_values_beyond_the_limits_are_shown_as_they_are_written(command: Command) -> None:
    """Polling is voted as written. An HMX timeout out of range is not voted, so two such values do the same."""
    usual = write("usual.json", cores({"perf_profile": "burst"}))
    long = write("long.json", cores({"perf_profile": "burst", "rpc_polling_time": 20_000}))
    assert [change[2:6] for change in told(command, usual, long)] == [
        ("rpc_polling_time_us", "9999", "20000", "raises power")
    ]
    assert [change[2:6] for change in told(command, "burst", long)] == [
        ("rpc_polling_time_us", "9999", "20000", "raises power")
    ]
    one, other = (write(f"{us}.json", cores({"perf_profile": "burst", "hmx_timeout_us": us})) for us in (50, 60))
    assert [change[2:6] for change in told(command, one, other)] == [("hmx_timeout_us", "50", "60", "wording only")]
    assert [change[2:6] for change in told(command, one, usual)] == [("hmx_timeout_us", "50", "unset", "wording only")]
    assert told(command, one, one, exit_code=0) == []


def test_a_custom_vote_beyond_the_limits_is_shown_as_it_is_written(command: Command) -> None:
    """Import sorts corners and limits the latency; diff compares them as written. An invalid perf mode is not voted."""
    sides = []
    for name, latency, lowest, mode in (("a", 5, "NOM", 100), ("b", 9, "TURBO", 101)):
        made = item([*START, *DONE], "NOM", hmxControl={"hmxPickDefault": 0, "hmxPerfMode": mode})
        made["dcvsControl"] |= {"sleep_latency_us": latency, "busVoltageCornerMin": f"DCVS_VOLTAGE_VCORNER_{lowest}"}
        sides.append(write(f"{name}.json", cores({"perf_profile": "custom", "custom": [made]})))
    changes = {change[2]: change[3:6] for change in told(command, *sides) if change[1] == "inference"}
    assert changes == {
        "dcvs_v3.sleep_latency_us": ("5", "9", "changes latency"),
        "dcvs_v3.bus.min": ("NOM", "TURBO", "raises power"),
        "hmx_v2.perf_mode": ("100", "101", "wording only"),
    }


def test_a_profile_under_another_key_is_the_place_of_its_changes(command: Command) -> None:
    """The place is the key that is read as perf_profile."""
    old = write("old.json", cores({"perf_profile": "burst"}))
    new = write("new.json", '{"devices": [{"cores": [{"perf_profile": "burst",\n "my_perf_profile": "balanced"}]}]}')
    causes = {(change[6]["line"], change[6]["column"]) for change in told(command, old, new) if "dcvs" in change[2]}
    assert causes == {(2, 2)}
