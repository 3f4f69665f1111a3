"""Breaks of holds, caps and changes of profile."""

from __future__ import annotations

from simulation.breaks.mutation import Mutation

CLAIMS = (
    Mutation(
        "a session that is closed is not marked as closing",
        "claims/claims.py",
        "            session.gate.close()\n",
        "",
    ),
    Mutation(
        "a hold with a timeout gets no alarm",
        "claims/claims.py",
        (
            "                self._alarms[claim.number] = "
            'armed_or_none(self._time, claim.until_us, end, "the timeout of a hold")'
        ),
        "                pass",
    ),
    Mutation(
        "a hold that ends changes no profile",
        "claims/claims.py",
        "return self._reconciler.follow(session, Cause.HOLD_ENDED, claim.reason)",
        "return None",
    ),
    Mutation(
        "a cap that is lifted changes no profile",
        "claims/claims.py",
        "        self._all_follow(Cause.CAP_LIFTED, claim.reason)\n",
        "",
    ),
    Mutation(
        "a cap that is set changes no profile",
        "claims/claims.py",
        "        self._all_follow(Cause.CAP_SET, claim.reason)\n",
        "",
    ),
    Mutation(
        "the profile is followed before it is noted",
        "claims/claims.py",
        (
            "        session.own = profile\n"
            "        return self._reconciler.follow(session, Cause.PROFILE_CHANGED, None)\n"
        ),
        (
            "        error = self._reconciler.follow(session, Cause.PROFILE_CHANGED, None)\n"
            "        session.own = profile\n"
            "        return error\n"
        ),
    ),
    Mutation(
        "all holds end with one",
        "claims/claims.py",
        "session.holds = tuple(other for other in session.holds if other is not claim)",
        "session.holds = ()",
    ),
    Mutation(
        "what is run side by side is not waited for",
        "time/side_by_side.py",
        "        each.done.wait(None if end_s is None else max(0.0, end_s - clock.monotonic()))\n",
        "",
    ),
    Mutation(
        "of several holds the lowest decides",
        "core/precedence.py",
        "hold = max(holds, key",
        "hold = min(holds, key",
    ),
    Mutation(
        "of several caps the highest decides",
        "core/precedence.py",
        "decides = min(caps, key",
        "decides = max(caps, key",
    ),
    Mutation(
        "a hold does not end with what it watches",
        "claims/claims.py",
        "weakref.ref(watched, types.MethodType(self._time.call_soon, action))",
        "weakref.ref(watched)",
    ),
)
