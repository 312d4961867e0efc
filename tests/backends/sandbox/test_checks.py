"""Checks: nothing that the agent leaves behind decides over its own grade."""

from __future__ import annotations

import time

import pytest

FAKE = "printf '#!/bin/sh\\nexit 0\\n'"
JUDGE = "grep -q '^solved$' /root/state && test -f /root/done"


def plant(*paths):
    return "; ".join(
        f"{FAKE} > {path}.new; chmod +x {path}.new; mv {path}.new {path}" for path in paths
    )


def test_a_check_sees_what_the_agent_did(sh, check):
    sh("echo solved > /root/state; touch /root/done; useradd ann; mkdir /new; echo x > /new/file")

    assert check(JUDGE + ' && id ann && [ "$(cat /new/file)" = x ]') == 0


def test_a_check_that_is_not_met_fails(check):
    assert check(JUDGE) != 0


@pytest.mark.parametrize(
    "trick",
    [
        plant("/usr/bin/grep", "/usr/bin/test", "/usr/bin/["),
        plant("/usr/local/bin/grep", "/usr/local/sbin/grep", "/usr/local/bin/bash"),
        plant("/usr/bin/bash"),
        plant("/usr/bin/dash", "/usr/bin/env"),
        "rm -rf /bin; mkdir /bin; " + plant("/bin/bash", "/bin/grep"),
        "mkdir /evil; cp -a /usr/bin/. /evil; rm -rf /bin; ln -s /evil /bin; "
        + plant("/evil/bash"),
        "mv /usr/bin /usr/gone; mkdir /usr/bin; cp /usr/gone/[a-c]* /usr/bin",
        "mv /usr /usr2; ln -s usr2 /usr",
        "echo 'exit 0' > /root/.bashrc; cp /root/.bashrc /root/.bash_profile; "
        "cp /root/.bashrc /root/.profile; cp /root/.bashrc /etc/profile; "
        "cp /root/.bashrc /etc/bash.bashrc; echo BASH_ENV=/root/.bashrc > /etc/environment",
        "mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt; echo 1 > /root/reward.txt",
        "echo /usr/local/lib/evil.so > /etc/ld.so.preload",
        "echo 'passwd: evil files' > /etc/nsswitch.conf",
        "rm -rf /usr/lib /lib /lib64",
    ],
    ids=[
        "tools replaced",
        "tools planted earlier in PATH",
        "bash replaced",
        "sh replaced",
        "bin made anew",
        "bin led elsewhere",
        "usr/bin moved away",
        "usr led elsewhere",
        "start-up files",
        "files that look like rewards",
        "a library loaded before all others",
        "another name service",
        "libraries removed",
    ],
)
def test_a_trick_neither_passes_nor_spoils_a_check(provider, trick):
    from lifelong_gym.backends.sandbox import Command, bash

    for state, wanted in (("true", False), ("echo solved > /root/state; touch /root/done", True)):
        sandbox = provider.create()
        sandbox.run(Command(bash(f"{state}; {trick}")))
        passed = sandbox.check(Command(bash(JUDGE))).exit_code == 0
        sandbox.close()
        # A preloaded library may spoil one's own check, but that is all.
        assert passed == wanted or (wanted and "preload" in trick)


def test_what_the_agent_adds_beside_the_tools_can_be_checked(sh, check):
    sh("printf '#!/bin/sh\\necho hello\\n' > /usr/bin/greet; chmod 755 /usr/bin/greet")
    sh("cp /usr/bin/greet /usr/local/bin/greet2")

    assert check("[ $(/usr/bin/greet) = hello ] && [ $(greet2) = hello ]") == 0


def test_a_check_may_use_everything_of_bash(check):
    assert (
        check("diff <(echo a) <(echo a) && cat <<< b && [ -e /dev/stdin ] && echo > /dev/null") == 0
    )


def test_a_running_process_can_be_checked_but_cannot_see_or_stop_the_check(sh, check):
    sh(
        "for i in {1..400}; do for p in /proc/[0-9]*; do "
        "tr '\\0' ' ' < $p/cmdline | grep -a 'judg[i]ng'; "
        "done >> /root/seen 2>/dev/null; sleep 0.005; done &"
    )

    assert check("sleep 0.5; pgrep -f 'for i i[n]' && : judging") == 0
    assert check("! grep -q judging /root/seen") == 0


def test_a_check_cannot_be_traced(sh, check):
    sh(
        "(while :; do for p in /proc/[0-9]*; do [ $p = /proc/1 ] || "
        "cat $p/environ 2>/dev/null | grep -a 'SECRET_O[F]_CHECK' >> /root/seen; done; done) &"
    )

    assert check("SECRET_OF_CHECK=1 sleep 0.5; [ ! -s /root/seen ]") == 0


def test_a_check_over_its_time_ends(sandbox):
    from lifelong_gym.backends.sandbox import Command, bash

    started = time.monotonic()
    outcome = sandbox.check(Command(bash("sleep 60"), timeout_s=0.5))

    assert outcome.timed_out
    assert time.monotonic() - started < 10


def test_a_swarm_of_processes_does_not_pass_a_check(sh, check):
    sh("(for i in {1..100}; do sleep 60 & done) >/dev/null 2>&1 & sleep 1")

    assert check(JUDGE, timeout_s=2) != 0
