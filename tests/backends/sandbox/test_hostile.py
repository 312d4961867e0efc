"""What a hostile agent tries: afterwards the host is as it was, and the next machine works."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from lifelong_gym.backends.sandbox import Command, SandboxBroken, bash

MEBIBYTE = 1 << 20
FORK_BOMB = "f() { f | f & }; f; sleep 60"
C_CLOCK = "date -s '2001-01-01'; date +%Y"

ATTACKS = {
    "fork bomb": FORK_BOMB,
    "fork bomb in the background": "(f() { f | f & }; f) >/dev/null 2>&1 &",
    "fork bomb of many users": """
        for i in {1..20}; do useradd u$i; done
        for i in {1..20}; do su u$i -c 'f() { f | f & }; f' & done >/dev/null 2>&1; sleep 60""",
    "filling memory": "x=$(yes | tr -d '\\n' | head -c 400000000); echo ${#x}",
    "filling memory by many": """
        for i in {1..20}; do (x=$(yes | head -c 40000000); sleep 2) & done; wait""",
    "filling the disk": """
        for i in {1..50}; do head -c 20000000 /dev/zero > /root/$i || break; done; false""",
    "filling the disk with files": """
        for i in {1..40}; do mkdir /root/$i; touch /root/$i/{1..1000}; done""",
    "filling /run and /dev/shm": "for f in /run /dev/shm; do cat /dev/zero > $f/x; done",
    "one large file": "head -c 50000000 /dev/zero > /root/large; stat -c %s /root/large",
    "endless output": "yes; :",
    "endless output in the background": "yes & yes & yes &",
    "children that hold the pipes": """
        (trap '' HUP TERM PIPE; setsid sleep 300 &); sleep 300 & echo out""",
    "loops that ignore signals": "trap '' INT TERM HUP QUIT PIPE; while :; do :; done",
    "killing process 1": "kill -9 1; kill -TERM 1; kill -SEGV 1",
    "killing all": "kill -9 -1",
    "removing everything": "rm -rf --no-preserve-root / 2>/dev/null",
    "removing /bin": "rm -rf /bin/* /bin /usr/bin",
    "setting the clock": "date -s '2001-01-01'; date +%Y",
    "mounting": "mount -t tmpfs none /mnt; mount --bind / /mnt; umount -l /proc; umount -a -l",
    "new user namespaces": "unshare -Urm mount -t tmpfs none /mnt; unshare -m true",
    "writing /proc/sys": """
        for f in kernel/hostname kernel/core_pattern vm/swappiness kernel/pid_max; do
            echo 7 > /proc/sys/$f
        done; echo b > /proc/sysrq-trigger""",
    "signalling the host": """
        for i in {2..40000}; do [ -d /proc/$i ] || kill -9 $i; done 2>/dev/null""",
    "opening disks": "mknod /root/disk b 254 0; head -c 10 /root/disk /dev/vda /dev/mem",
    "setuid programs": "cp /usr/bin/id /srv/id; chown root /srv/id; chmod 4755 /srv/id; /srv/id",
    "reaching the network": "exec 3<>/dev/tcp/127.0.0.1/22; curl -m 1 http://1.1.1.1",
}


@pytest.fixture
def canary(tmp_path):
    """A file and a process of the host that must come to no harm."""
    file = tmp_path / "canary"
    file.write_text("alive")
    process = subprocess.Popen(["sleep", "600"])
    yield file, process
    process.kill()
    process.wait()


def state_of_host() -> dict[str, str]:
    names = ("kernel/hostname", "kernel/core_pattern", "vm/swappiness", "kernel/pid_max")
    return {name: Path("/proc/sys", name).read_text() for name in names}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_an_attack_harms_nothing_outside_and_the_next_machine_works(provider, canary, attack):
    file, process = canary
    before, clock = state_of_host(), time.time() - time.monotonic()
    sandbox = provider.create()
    started = time.monotonic()
    try:
        sandbox.run(Command(bash(attack), timeout_s=2))
        sandbox.run(Command(bash("echo still here"), timeout_s=2))
    except SandboxBroken:
        pass
    finally:
        sandbox.close()

    assert time.monotonic() - started < 40
    assert file.read_text() == "alive"
    assert process.poll() is None
    assert state_of_host() == before
    assert abs(time.time() - time.monotonic() - clock) < 60
    following = provider.create()
    assert following.run(Command(bash("echo works"))).text() == "works\n"
    following.close()


def test_the_disk_holds_no_more_than_it_should(sh):
    assert sh(ATTACKS["filling the disk"]).exit_code == 1

    used = int(sh("du -sm /root | cut -f1").text())
    assert 30 <= used <= 66


def test_a_file_grows_no_larger_than_it_should(sh):
    sh("head -c 50000000 /dev/zero > /root/large")

    assert int(sh("stat -c %s /root/large").text()) == 24 * MEBIBYTE


def test_there_are_no_more_processes_than_there_should(sh):
    outcome = sh("for i in {1..100}; do sleep 20 & done", timeout_s=2)

    assert "Resource temporarily unavailable" in outcome.text()


def test_nothing_of_the_host_is_in_a_commands_environment_or_descriptors(sh):
    listed = sh("ls /proc/self/fd; cat /proc/self/environ /proc/1/environ | tr '\\0' '\\n'").text()

    assert not {name for name in os.environ if name.startswith("LIFELONG")} & set(listed.split("="))
    assert listed.split()[:4] == ["0", "1", "2", "3"]  # 3 is the folder that ls reads


def test_a_command_has_dockers_capabilities_at_most(sh):
    told = dict(line.split(":\t") for line in sh("grep Cap /proc/self/status").text().splitlines())

    assert int(told["CapBnd"], 16) == int(told["CapEff"], 16) == 0x00000000A80425FB


def test_root_inside_is_nobody_outside(provider, sandbox):
    if provider.name == "docker":
        pytest.skip("Docker maps ids only where its daemon is set up to")
    sandbox.run(Command(bash("sleep 7654321 & echo")))
    found = subprocess.run(
        ["pgrep", "-f", "^sleep 7654321"], capture_output=True, text=True, check=True
    ).stdout.split()
    owners = {Path("/proc", pid).stat().st_uid for pid in found}

    assert os.getuid() not in owners
    assert min(owners) >= 1000
