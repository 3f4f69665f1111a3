"""Hold dialogs of the vendor's library Genie, one for each request: voter_host.py LIBRARIES MODEL TOKENIZER.

A request is a line of JSON: ``extensions``, the path of an extension file or null, and ``tokens``, how many to make.
With 0 tokens, only the extension file is read. The libraries' log goes to the output, and between the stages of a
dialog this process writes a line that begins with "##". An idle dialog waits for a line.

The libraries stay loaded between the dialogs, so a file takes 1 ms instead of 25 ms, and a dialog half as long.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any

VERBOSE = 4
LIBRARIES = ("libQnnHtp.so", "libQnnHtpNetRunExtensions.so", "libQnnSystem.so", "libGenie.so")
ANSWER = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int32, ctypes.c_void_p)
NOTHING = "/nowhere"


def load(folder: Path) -> Any:
    """Return Genie, with the other libraries loaded."""
    ctypes.CDLL("libgcc_s.so.1")  # before any library brings another unwinder
    *_, genie = (ctypes.CDLL(str(folder / name)) for name in LIBRARIES)
    genie.GenieDialogConfig_free.argtypes = genie.GenieLog_free.argtypes = [ctypes.c_void_p]
    genie.GenieDialogConfig_bindLogger.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    genie.GenieDialog_create.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    genie.GenieDialog_setMaxNumTokens.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
    genie.GenieDialog_query.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ANSWER, ctypes.c_void_p]
    genie.GenieDialog_free.argtypes = [ctypes.c_void_p]
    return genie


def configuration(model: str, tokenizer: str, extensions: str | None) -> bytes:
    """Return the JSON of a dialog; without extensions it has no such key."""
    htp = {
        "version": 1,
        "use-mmap": False,
        "spill-fill-bufsize": 0,
        "mmap-budget": 0,
        "poll": False,
        "cpu-mask": "0x0",
        "kv-dim": 64,
        "pos-id-dim": 32,
        "allow-async-init": False,
    }
    backend = {"version": 1, "type": "QnnHtp", "QnnHtp": htp}
    if extensions is not None:
        backend["extensions"] = extensions
    binary = {"version": 1, "type": "binary", "binary": {"version": 1, "ctx-bins": [model]}}
    dialog = {
        "version": 1,
        "type": "basic",
        # No word of the vocabulary ends a dialog, so that it has the requested number of inferences.
        "context": {"version": 1, "size": 64, "n-vocab": 3, "bos-token": 1, "eos-token": 3},
        "sampler": {"version": 1, "seed": 1, "temp": 1.0, "top-k": 1, "top-p": 1.0},
        "tokenizer": {"version": 1, "path": tokenizer},
        "engine": {"version": 1, "n-threads": 1, "backend": backend, "model": binary},
    }
    return json.dumps({"dialog": dialog}).encode()


def hold(genie: Any, configured: bytes, tokens: int) -> None:
    """Hold one dialog."""
    config, log, dialog = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    code = genie.GenieDialogConfig_createFromJson(configured, ctypes.byref(config))
    assert code == 0, f"GenieDialogConfig_createFromJson: {code}"
    code = genie.GenieLog_create(None, None, VERBOSE, ctypes.byref(log))
    assert code == 0, f"GenieLog_create: {code}"
    genie.GenieDialogConfig_bindLogger(config, log)
    stage("create")
    code = genie.GenieDialog_create(config, ctypes.byref(dialog))
    if dialog.value:
        genie.GenieDialog_setMaxNumTokens(dialog, tokens)
        stage("query")
        code = genie.GenieDialog_query(dialog, b"a", 0, ANSWER(lambda *_: None), None)
        stage("idle")
        sys.stdin.readline()
        stage("free")
        code = genie.GenieDialog_free(dialog) or code
    genie.GenieDialogConfig_free(config)
    genie.GenieLog_free(log)
    stage("end", code)


def stage(*words: object) -> None:
    """Begin a stage of the dialog. The line is written at once, since a thread of the library may be writing, too."""
    os.write(sys.stdout.fileno(), f"\n## {' '.join(map(str, words))}\n".encode())


def main(libraries: str, model: str, tokenizer: str) -> None:
    """Hold the dialogs that are asked for."""
    genie = load(Path(libraries))
    for line in sys.stdin:
        request = json.loads(line)
        of = model if request["tokens"] else NOTHING
        hold(genie, configuration(of, tokenizer, request["extensions"]), request["tokens"])


if __name__ == "__main__":
    main(*sys.argv[1:])
