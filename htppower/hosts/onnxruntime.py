"""ONNX Runtime as a host: the runs of a session vote, and each vote is sent only once.

    with controller.session("burst") as votes, load_model("model.onnx", votes) as model:
        (y,) = model.run(None, {"x": x})

The QNN execution provider can vote, too. ``load_model`` switches that off, and refuses options that would switch it on.
If the provider should vote instead of a controller, use ``provider_options``.
"""

from __future__ import annotations

import contextlib
import logging
import weakref
from typing import TYPE_CHECKING, Any

from htppower.control.context_manager import Closing
from htppower.errors import SessionClosed
from htppower.hosts.async_runs import AsyncRuns
from htppower.hosts.context_nodes import has_dlc_context
from htppower.hosts.qnn_errors import LinkWatch
from htppower.hosts.qnn_provider import (
    PERFORMANCE_MODE,
    PROVIDER,
    ProviderOptions,
    ProviderUnavailable,
    ProviderVotes,
    Unexpressed,
    new_session,
    provider_options,
    refuse_votes,
    refuse_votes_of_run,
    refuse_votes_of_session,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from onnxruntime import InferenceSession, RunOptions, SessionOptions

    from htppower.control.session import Session

LOGGER = logging.getLogger("htppower")

__all__ = [
    "ProviderOptions",
    "ProviderUnavailable",
    "ProviderVotes",
    "Unexpressed",
    "VotingSession",
    "load_model",
    "provider_options",
]


def load_model(
    model: str | os.PathLike[str] | bytes,
    votes: Session,
    *,
    provider_options: Mapping[str, str] | None = None,
    session_options: SessionOptions | None = None,
    allow_spinning: bool = False,
) -> VotingSession:
    """Load a model on the HTP as an INIT phase, and return a session that votes around each run.

    The provider's own voting is switched off. If the provider can't be created, this raises an error: the model as a
    whole never runs on the CPU instead. If the model has nodes that Genie runs, a warning says that Genie votes.

    Args:
        model: a file, or a serialized model.
        votes: the session that votes; it is not closed with the model.
        provider_options: additional options of the QNN execution provider. With the package onnxruntime-qnn, its own
            HTP library is the default of ``backend_path``.
        session_options: options of ONNX Runtime. The provider is added to them, so use them for one model only.
        allow_spinning: let the threads of ONNX Runtime use the CPU while they wait, as ONNX Runtime does by default.
            That may be faster for a model with nodes on the CPU. Without it ``session.intra_op.allow_spinning`` and
            ``session.inter_op.allow_spinning`` are 0, unless ``session_options`` has them.

    Raises:
        ProviderVotes: an option would make the provider vote.
        ProviderUnavailable: ONNX Runtime has no QNN execution provider.
        SessionClosed: ``votes`` is closed.
    """
    options = {PERFORMANCE_MODE: "default", **(provider_options or {})}
    refuse_votes(options)
    if session_options is not None:
        refuse_votes_of_session(session_options)
    if has_dlc_context(model):
        LOGGER.warning(
            "%s has EPContext nodes of type dlc: Genie runs them, and its own votes can't be switched off by options of"
            " the provider (docs: Embed it in ONNX Runtime, One voter)",
            "the model" if isinstance(model, bytes) else model,
        )
    with votes.init():
        session = new_session(model, options, session_options, allow_spinning=allow_spinning)
    return VotingSession(session, votes)


class VotingSession(Closing):
    """An ``onnxruntime.InferenceSession`` whose runs vote. All other attributes are those of the wrapped session.

    If a run fails with 1007 or 1011 of the vendor's library, the controller is informed: see ``Session.link_lost``. The
    error itself is passed on unchanged. The fallback of ONNX Runtime is switched off, since it would silently repeat
    such a run on the CPU; ``enable_fallback`` switches it on again.

    Args:
        session: the session to wrap. ``close`` releases it unless something else refers to it.
        votes: the session that votes; it is not closed with the model.

    Raises:
        ProviderVotes: the session's QNN execution provider votes by itself.
    """

    def __init__(self, session: InferenceSession, votes: Session) -> None:
        refuse_votes(session.get_provider_options().get(PROVIDER, {}))
        session.disable_fallback()
        # The session is kept until it is released. After a request to close, no run begins.
        self._session: InferenceSession | None = session
        self._closed = False
        self._votes = votes
        self._watch = LinkWatch(votes)
        self._async_runs = AsyncRuns(votes, self._watch)
        # Options that were checked are remembered: a check makes ONNX Runtime raise three exceptions, which takes about
        # 100 us.
        self._looked_at: weakref.WeakSet[RunOptions] = weakref.WeakSet()

    def run(self, output_names: Any, input_feed: Any, run_options: RunOptions | None = None) -> Any:
        """Run as ``InferenceSession.run`` does, with the votes in force.

        Run options are checked only the first time they are given: do not add voting entries to them later.

        Raises:
            ProviderVotes: the run options would make the provider vote.
            VoteRejected, SessionClosed: for the same reasons as in ``Session.inference``.
        """
        session = self._open(run_options)
        with self._votes.inference(), self._watch:
            return session.run(output_names, input_feed, run_options)

    async def arun(self, output_names: Any, input_feed: Any, run_options: RunOptions | None = None) -> Any:
        """Run as ``run`` does, on a thread of the event loop's executor, while the coroutine is suspended.

        If the coroutine is cancelled, the run is asked to stop (``RunOptions.terminate``), unless the caller gave its
        options. The inference lasts until the run ends, and ``close`` waits for it.

        Raises:
            ProviderVotes, VoteRejected, SessionClosed: for the same reasons as in ``run``.
        """
        import asyncio  # noqa: PLC0415 - a host without coroutines does not need it

        from onnxruntime import RunOptions  # noqa: PLC0415 - optional: a host may bring a session of another module

        self._open(run_options)
        options = RunOptions() if run_options is None else run_options
        try:
            return await asyncio.to_thread(self._run_under_way, output_names, input_feed, options)
        except asyncio.CancelledError:
            if run_options is None:
                options.terminate = True
            raise

    def run_with_ort_values(
        self, output_names: Any, input_dict_ort_values: Any, run_options: RunOptions | None = None
    ) -> Any:
        """Run as ``InferenceSession.run_with_ort_values`` does, with the votes in force. Raises the same as ``run``."""
        session = self._open(run_options)
        with self._votes.inference(), self._watch:
            return session.run_with_ort_values(output_names, input_dict_ort_values, run_options)

    def run_with_iobinding(self, iobinding: Any, run_options: RunOptions | None = None) -> Any:
        """Run as ``InferenceSession.run_with_iobinding`` does, with the votes in force. Raises the same as ``run``."""
        session = self._open(run_options)
        with self._votes.inference(), self._watch:
            return session.run_with_iobinding(iobinding, run_options)

    def run_with_ortvaluevector(
        self, run_options: RunOptions, feed_names: Any, feeds: Any, fetch_names: Any, fetches: Any, fetch_devices: Any
    ) -> Any:
        """Run as ``InferenceSession.run_with_ortvaluevector`` does, with the votes in force. Raises as ``run`` does."""
        session = self._open(run_options)
        with self._votes.inference(), self._watch:
            return session.run_with_ortvaluevector(run_options, feed_names, feeds, fetch_names, fetches, fetch_devices)

    def run_async(
        self,
        output_names: Any,
        input_feed: Any,
        callback: Callable[[Any, Any, str], object],
        user_data: Any,
        run_options: RunOptions | None = None,
    ) -> Any:
        """Run as ``InferenceSession.run_async`` does: the votes are in force when it returns.

        The inference ends in ONNX Runtime's thread, before the callback is called, also if the run fails. If the run
        is refused, the inference ends at once. A lowering that fails there is not raised: the status and an event
        report it.

        Raises:
            ProviderVotes, VoteRejected, SessionClosed: for the same reasons as in ``run``; then no run was submitted.
        """
        session = self._open(run_options)
        ending = self._async_runs.begin(callback)
        try:
            return session.run_async(output_names, input_feed, ending, user_data, run_options)
        except BaseException:
            ending.end()
            raise

    def set_ep_dynamic_options(self, options: Mapping[str, str]) -> Any:
        """Set options as ``InferenceSession.set_ep_dynamic_options`` does.

        Raises:
            ProviderVotes: the options would make the provider vote.
        """
        refuse_votes(options)
        return self._open().set_ep_dynamic_options(options)

    def set_providers(self, providers: Any = None, provider_options: Any = None) -> None:
        """Create the session again as ``InferenceSession.set_providers`` does, as an INIT phase.

        Raises:
            ProviderVotes: an option would make the provider vote.
        """
        named = [provider[1] for provider in providers or () if not isinstance(provider, str)]
        for options in (*named, *(provider_options or ())):
            refuse_votes(options)
        session = self._open()
        with self._votes.init():
            session.set_providers(providers, provider_options)

    def close(self) -> None:
        """Wait for ``run_async`` and ``arun``, then release the model as a DE-INIT phase. Closing twice has no effect.

        Call this when no other run is in progress, and not from a callback: a run that waits for the callback's thread
        would never end. The votes' session stays open; if it is already closed, the model is released without votes. If
        an exception such as Ctrl-C interrupts the wait, the model is kept, and a second close continues.

        Raises:
            VoteRejected: a vote failed and the controller has ``on_error="raise"``; the model is released.
        """
        self._closed = True
        if self._session is None:
            return
        self._async_runs.wait()
        self._session, session = None, self._session
        if session is None:
            return
        try:
            with contextlib.suppress(SessionClosed), self._votes.deinit():
                session = None
        finally:
            session = None  # even if DE-INIT has not begun

    def __getattr__(self, name: str) -> Any:
        # Other cases raise AttributeError: an unfinished copy has no session yet, and Python itself looks up special
        # names.
        if name == "_session" or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._open(), name)

    def _run_under_way(self, output_names: Any, input_feed: Any, run_options: RunOptions) -> Any:
        with self._async_runs.under_way():
            session = self._open()
            with self._votes.inference(), self._watch:
                return session.run(output_names, input_feed, run_options)

    def __repr__(self) -> str:
        """Return the class, and the session that votes."""
        return f"<VotingSession {'closed, ' if self._closed else ''}{self._votes!r}>"

    def _open(self, run_options: RunOptions | None = None) -> InferenceSession:
        """Return the session of ONNX Runtime for a run with these options."""
        session = self._session
        if session is None or self._closed:
            raise SessionClosed(f"{self!r}: load the model again")
        if run_options is not None and run_options not in self._looked_at:
            refuse_votes_of_run(run_options)
            self._looked_at.add(run_options)
        return session
