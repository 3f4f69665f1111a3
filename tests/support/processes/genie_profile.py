"""Write Genie's profile of a dialog with some queries: genie_profile.py LIBRARIES MODEL TOKENIZER OUTPUT QUERIES."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

from voter_host import ANSWER, configuration, load  # type: ignore[import-not-found] # it lies beside this file

ALLOCATE = ctypes.CFUNCTYPE(None, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p))
TOKENS = 3


def main(libraries: str, model: str, tokenizer: str, output: str, queries: str) -> None:
    """Hold the dialog, and write Genie's profile of it."""
    genie = load(Path(libraries))
    genie.GenieDialogConfig_bindProfiler.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    genie.GenieProfile_getJsonData.argtypes = [ctypes.c_void_p, ALLOCATE, ctypes.c_void_p]
    profile, config, dialog, said = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_char_p()
    kept = []

    def allocate(size: int, place: ctypes._Pointer[ctypes.c_void_p]) -> None:
        kept.append(ctypes.create_string_buffer(size))
        place[0] = ctypes.c_void_p(ctypes.addressof(kept[-1]))

    check(genie.GenieProfile_create(None, ctypes.byref(profile)))
    check(genie.GenieDialogConfig_createFromJson(configuration(model, tokenizer, None), ctypes.byref(config)))
    check(genie.GenieDialogConfig_bindProfiler(config, profile))
    check(genie.GenieDialog_create(config, ctypes.byref(dialog)))
    check(genie.GenieDialog_setMaxNumTokens(dialog, TOKENS))
    genie.GenieDialog_reset.argtypes = [ctypes.c_void_p]
    for _ in range(int(queries)):
        check(genie.GenieDialog_reset(dialog))
        check(genie.GenieDialog_query(dialog, b"a b a", 0, ANSWER(lambda *_: None), None))
    check(genie.GenieProfile_getJsonData(profile, ALLOCATE(allocate), ctypes.byref(said)))
    assert said.value is not None
    Path(output).write_bytes(said.value)


def check(code: int) -> None:
    """Assert that a call has succeeded."""
    assert code == 0, code


if __name__ == "__main__":
    main(*sys.argv[1:])
