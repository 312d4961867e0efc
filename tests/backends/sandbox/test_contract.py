"""The contract of sandboxes: what every provider has to keep."""

from __future__ import annotations

import pickle
import time

import pytest

from lifelong_gym.backends.sandbox import Command, Outcome, SandboxBroken, bash


def test_a_command_tells_its_exit_code_and_what_it_printed(sh):
    assert sh("echo out; exit 3") == Outcome(3, b"out\n", size=4)


def test_stdout_and_stderr_come_together_in_order(sh):
    assert sh("echo 1; echo 2 >&2; echo 3").text() == "1\n2\n3\n"


def test_stdin_is_empty(sh):
    assert sh("cat; read -r line || echo nothing").text() == "nothing\n"


def test_a_command_ended_by_a_signal_has_128_and_its_number(sh):
    assert sh("kill -TERM $$").exit_code == 128 + 15


def test_bytes_that_are_no_text_are_replaced(sh):
    outcome = sh(r"printf 'a\xff\x00b'")

    assert outcome.head == b"a\xff\x00b"
    assert outcome.text() == "a\ufffd\x00b"


def test_long_output_keeps_its_head_and_its_tail(sh):
    outcome = sh("echo first; seq 1000000; echo last", max_output_bytes=100)

    assert outcome.is_cut
    assert len(outcome.head) == len(outcome.tail) == 50
    assert outcome.size == 6_888_896 + len("first\nlast\n")
    assert outcome.text().startswith("first\n1\n")
    assert outcome.text().endswith("1000000\nlast\n")
    assert f"of {outcome.size} bytes cut" in outcome.text()


def test_output_of_exactly_the_bound_is_whole(sh):
    outcome = sh("printf %100d 1", max_output_bytes=100)

    assert not outcome.is_cut
    assert len(outcome.text()) == 100


def test_endless_output_ends_with_the_time(sh):
    outcome = sh("yes", timeout_s=0.5)

    assert outcome.timed_out
    assert outcome.is_cut
    assert len(outcome.head) + len(outcome.tail) == 16_384


def test_a_command_over_its_time_keeps_what_it_printed(sh):
    started = time.monotonic()
    outcome = sh("echo before; sleep 60; echo after", timeout_s=0.5)

    assert outcome.timed_out
    assert outcome.exit_code == 124
    assert outcome.text() == "before\n"
    assert time.monotonic() - started < 10


def test_a_command_over_its_time_is_killed_with_all_its_descendants(sh):
    sh("(setsid sleep 61 &); trap '' TERM; bash -c 'sleep 62 & sleep 63' & sleep 64", timeout_s=0.7)

    assert sh("grep -l sleep /proc/[0-9]*/comm | grep -v /proc/1/").text() == ""


def test_what_ran_before_survives_a_later_command_over_its_time(sh):
    sh("sleep 61 & echo $! > /root/pid")
    sh("sleep 62", timeout_s=0.5)

    assert sh("cat /proc/$(cat /root/pid)/comm").text() == "sleep\n"
    assert sh("pgrep -f 'sleep 62' | wc -l").text() == "1\n"  # the bash that asks


def test_a_background_child_does_not_hold_the_turn(sh):
    started = time.monotonic()
    outcome = sh("sleep 30 & (echo from a child; sleep 31) & sleep 0.2; echo done")

    assert time.monotonic() - started < 10
    assert outcome.text() == "from a child\ndone\n"
    assert sh("pgrep -c sleep").text() == "3\n"  # process 1 is one too


def test_a_background_child_can_go_on_writing(sh):
    sh("(sleep 0.3; yes | head -c 300000; echo finished > /root/state) &")

    assert sh("sleep 1; cat /root/state").text() == "finished\n"


def test_state_stays_from_command_to_command(sh):
    sh("cd /tmp; x=1; echo kept > /tmp/file")

    assert sh("pwd; echo $x; cat /tmp/file").text() == "/root\n\nkept\n"


def test_each_machine_is_fresh(provider, sh):
    sh("echo secret > /tmp/file; useradd mallory; rm -rf /usr/bin/wc")
    other = provider.create()
    script = "cat /tmp/file; id mallory; wc -c /etc/hostname > /tmp/n && echo whole"
    outcome = other.run(Command(bash(script)))
    other.close()

    assert "secret" not in outcome.text()
    assert "no such user" in outcome.text()
    assert outcome.text().endswith("whole\n")


def test_accounts_groups_and_owners_work_as_on_any_machine(sh):
    outcome = sh(
        "groupadd crew && useradd -m -g crew ann && gpasswd -a ann adm >/dev/null && "
        "touch /srv/f && chown ann:crew /srv/f && chmod 640 /srv/f && stat -c '%U:%G %a' /srv/f && "
        "su ann -c 'id -un; id -Gn; touch /etc/x 2>/dev/null || echo refused'"
    )

    assert outcome.text() == "ann:crew 640\nann\ncrew adm\nrefused\n"


def test_a_command_may_run_as_another_user(sh):
    sh("useradd -m ann")

    assert sh("id -un; pwd; echo $HOME", user="ann", directory="/home/ann").text() == (
        "ann\n/home/ann\n/home/ann\n"
    )


def test_the_environment_is_bare(sh):
    names = sh("env -0 | cut -z -d= -f1 | tr '\\0' ' '").text().split()

    assert set(names) <= {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "PWD", "SHLVL", "_"}


def test_a_folder_that_is_gone_is_no_obstacle(sh):
    sh("rm -rf /root")

    assert sh("pwd").text() == "/\n"


def test_a_script_may_be_longer_than_an_argument(sh):
    script = "cat <<'END' | wc -c\n" + "x" * 300_000 + "\nEND\n"

    assert sh(script).text() == "300001\n"


def test_a_script_may_hold_any_character(sh):
    assert sh("printf %s 'é 漢 \U0001f600'; \0echo !").text() == "é 漢 \U0001f600!\n"


def test_there_is_no_network(sh):
    assert sh("cat /proc/net/dev | tail -n +3 | cut -d: -f1").text().split() == ["lo"]
    assert sh("exec 3<>/dev/tcp/1.1.1.1/53", timeout_s=5).exit_code == 1


def test_a_missing_program_is_no_broken_machine(sh):
    assert sh("nosuchprogram").exit_code == 127


def test_a_machine_without_bash_is_broken(sh):
    sh("rm -rf /bin /usr/bin")

    with pytest.raises(SandboxBroken):
        sh("echo still here")


def test_a_machine_may_be_closed_twice(provider):
    sandbox = provider.create()
    sandbox.close()
    sandbox.close()


def test_two_machines_do_not_see_each_other(provider, sh):
    other = provider.create()
    other.run(Command(bash("echo other > /tmp/who; sleep 77 &")))

    assert sh("cat /tmp/who 2>/dev/null; pgrep -f 'sleep 7[7]'").text() == ""
    other.close()


def test_a_provider_says_what_serves(provider):
    assert provider.name
    assert provider.version


def test_an_unused_provider_pickles(provider):
    assert type(pickle.loads(pickle.dumps(provider))) is type(provider)
