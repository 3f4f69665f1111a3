"""ONNX Runtime as a host: a session whose runs vote, and that casts its votes once.

    with controller.session("burst") as votes, load_model("model.onnx", votes) as model:
        (y,) = model.run(None, {"x": x})

The QNN execution provider can vote, too. Here it must not: ``load_model`` switches that off, and options that would
switch it on are refused. For a host that leaves the votes to the provider there is ``provider_options``.
"""

from __future__ import annotations

import contextlib
import weakref
from typing import TYPE_CHECKING, Any

from htppower.control.context_manager import Closing
from htppower.errors import SessionClosed
from htppower.hosts.async_runs import AsyncRuns
from htppower.hosts.qnn_errors import LinkWatch
from htppower.hosts.qnn_modes import ProviderOptions, Unexpressed, provider_options
from htppower.hosts.qnn_options import (
    ProviderVotes,
    refuse_votes,
    refuse_votes_of_run,
    refuse_votes_of_session,
)
from htppower.hosts.qnn_provider import PROVIDER, ProviderUnavailable, new_session
from htppower.runtimes.onnxruntime import PERFORMANCE_MODE

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from onnxruntime import InferenceSession, RunOptions, SessionOptions

    from htppower.control.session import Session

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
) -> VotingSession:
    """Load a model on the HTP within INIT, and return a session that votes around each run.

    The provider's own voting is switched off. Where the provider can't be made, that is an error; the model is never
    put on the CPU as a whole in its place.

    Args:
        model: a file, or a serialized model.
        votes: what casts the votes; it is not closed with the model.
        provider_options: further options of the QNN execution provider. With the package onnxruntime-qnn, its own HTP
            library is the default of ``backend_path``.
        session_options: of ONNX Runtime. The provider is added to them, so they serve for one model.

    Raises:
        ProviderVotes: an option would make the provider vote.
        ProviderUnavailable: ONNX Runtime has no QNN execution provider.
        SessionClosed: ``votes`` is closed.
    """
    options = {PERFORMANCE_MODE: "default", **(provider_options or {})}
    refuse_votes(options)
    if session_options is not None:
        refuse_votes_of_session(session_options)
    with votes.init():
        session = new_session(model, options, session_options)
    return VotingSession(session, votes)


class VotingSession(Closing):
    """An ``onnxruntime.InferenceSession`` whose runs vote; everything else is that session's own.

    A run that fails with 1007 or 1011 of the vendor's library tells the controller so: see ``Session.link_lost``. Its
    error is passed on as it is. So the fallback of ONNX Runtime is switched off, which would make such a run on the CPU
    and tell nobody; ``enable_fallback`` switches it on.

    Args:
        session: the session. It is released by ``close`` if nobody else has it.
        votes: what casts the votes; it is not closed with the model.

    Raises:
        ProviderVotes: the session's QNN execution provider votes by itself.
    """

    def __init__(self, session: InferenceSession, votes: Session) -> None:
        refuse_votes(session.get_provider_options().get(PROVIDER, {}))
        session.disable_fallback()
        # Kept until it is released; once that is asked for no run begins.
        self._session: InferenceSession | None = session
        self._closed = False
        self._votes = votes
        self._watch = LinkWatch(votes)
        self._async_runs = AsyncRuns(votes, self._watch)
        # A look costs ONNX Runtime three exceptions, some 100 us.
        self._looked_at: weakref.WeakSet[RunOptions] = weakref.WeakSet()

    def run(self, output_names: Any, input_feed: Any, run_options: RunOptions | None = None) -> Any:
        """Run as ``InferenceSession.run`` does, with the votes in force.

        Run options are looked at when they are given for the first time; add no voting entry to them after.

        Raises:
            ProviderVotes: the run options would make the provider vote.
            VoteRejected, SessionClosed: as ``Session.inference`` does.
        """
        session = self._open(run_options)
        with self._votes.inference(), self._watch:
            return session.run(output_names, input_feed, run_options)

    async def arun(self, output_names: Any, input_feed: Any, run_options: RunOptions | None = None) -> Any:
        """Run as ``run`` does, and suspend the coroutine meanwhile: votes and run have a thread of the loop's executor.

        Where the coroutine is cancelled, the run is asked to end (``RunOptions.terminate``), unless it has options of
        the caller's; the inference ends with it, and ``close`` waits for it.

        Raises:
            ProviderVotes, VoteRejected, SessionClosed: as ``run`` does.
        """
        import asyncio  # noqa: PLC0415 - a host without coroutines doesn't pay for it

        from onnxruntime import RunOptions  # noqa: PLC0415 - the host may have none but a session of its own

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
        """Run as ``InferenceSession.run_with_ort_values`` does, with the votes in force. Raises as ``run`` does."""
        session = self._open(run_options)
        with self._votes.inference(), self._watch:
            return session.run_with_ort_values(output_names, input_dict_ort_values, run_options)

    def run_with_iobinding(self, iobinding: Any, run_options: RunOptions | None = None) -> Any:
        """Run as ``InferenceSession.run_with_iobinding`` does, with the votes in force. Raises as ``run`` does."""
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

        The inference ends in ONNX Runtime's thread, before the callback is called; so it does where the run fails, and
        at once where it is refused. A lowering that fails there is told by the status and an event, and not raised.

        Raises:
            ProviderVotes, VoteRejected, SessionClosed: as ``run`` does; nothing has then been submitted.
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
            ProviderVotes: they would make the provider vote.
        """
        refuse_votes(options)
        return self._open().set_ep_dynamic_options(options)

    def set_providers(self, providers: Any = None, provider_options: Any = None) -> None:
        """Make the session anew as ``InferenceSession.set_providers`` does, within INIT.

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
        """Wait for ``run_async`` and ``arun``, then release the model within DE-INIT. Closing twice is fine.

        Call it when no other run is under way, and not from a callback: a run that waits for the callback's thread
        would never end. The votes' session stays open; where it is closed, the model is released without votes. The
        model is kept where an exception such as Ctrl-C comes as this waits; closing it again goes on.

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
            session = None  # also where DE-INIT did not begin

    def __getattr__(self, name: str) -> Any:
        # Neither for a half-made copy, which has no session yet, nor for what Python looks up by itself.
        if name == "_session" or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._open(), name)

    def _run_under_way(self, output_names: Any, input_feed: Any, run_options: RunOptions) -> Any:
        with self._async_runs.under_way():
            session = self._open()
            with self._votes.inference(), self._watch:
                return session.run(output_names, input_feed, run_options)

    def __repr__(self) -> str:
        """Return the votes' session."""
        return f"<VotingSession {'closed, ' if self._closed else ''}{self._votes!r}>"

    def _open(self, run_options: RunOptions | None = None) -> InferenceSession:
        """Return the session of ONNX Runtime, for a run with these options."""
        session = self._session
        if session is None or self._closed:
            raise SessionClosed(f"{self!r}: load the model again")
        if run_options is not None and run_options not in self._looked_at:
            refuse_votes_of_run(run_options)
            self._looked_at.add(run_options)
        return session
