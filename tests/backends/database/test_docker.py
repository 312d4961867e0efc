"""MySQL in a container: what it may, what it needs, and that it always goes."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lifelong_gym.backends.database import Column, Table, open_database
from lifelong_gym.backends.servers import Orders, lease
from lifelong_gym.errors import BackendUnavailableError, MissingExtraError

ONE = Table(name="t", columns=(Column(name="a", type="INT"),), rows=((1,),))
USER = """
import sys
from lifelong_gym.backends.database import open_database
held = open_database("docker")
print(held._connected().endpoint.options["unix_socket"], flush=True)
sys.stdin.read()
"""


@pytest.fixture
def api(runtime):
    """The daemon, where it has an image to run."""
    from lifelong_gym.backends.database import docker as driver

    try:
        driver.find_image(driver.IMAGES)
    except (BackendUnavailableError, MissingExtraError) as error:
        pytest.skip(str(error))
    import docker

    client = docker.from_env()
    yield client.api
    client.close()


@pytest.fixture
def own_folder(tmp_path_factory, monkeypatch):
    """A runtime folder of the test's own: a server that no other test shares."""
    folder = tmp_path_factory.mktemp("d")
    folder.chmod(0o755)
    monkeypatch.setenv("LIFELONG_GYM_RUNTIME", str(folder))
    return folder


def user():
    return subprocess.Popen(
        [sys.executable, "-c", USER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def container_of(process):
    """The name of the container whose socket a user was told."""
    return Path(process.stdout.readline().strip()).parents[1].name


def names(api):
    found = api.containers(all=True, filters={"label": "lifelong-gym=database"})
    return {name.strip("/") for container in found for name in container["Names"]}


def until(condition):
    deadline = time.monotonic() + 15
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def end(process):
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


@pytest.mark.slow
def test_killing_all_users_removes_the_container(api, own_folder):
    users = [user() for _ in range(3)]
    (name,) = {container_of(process) for process in users}
    for process in users[:2]:
        end(process)
    assert name in names(api)
    end(users[2])

    until(lambda: name not in names(api))
    until(lambda: not list(own_folder.glob("lifelong-gym-data-*")))


@pytest.mark.slow
@pytest.mark.parametrize("whom", ["watchdog", "holder"])
def test_killing_what_watches_it_ends_the_container(api, own_folder, whom):
    process = user()
    name = container_of(process)
    holder = int(api.inspect_container(name)["Config"]["Labels"]["lifelong-gym.holder"].split()[1])
    status = Path(f"/proc/{holder}/status").read_text()
    watchdog = int(status.partition("PPid:")[2].split()[0])
    os.kill(watchdog if whom == "watchdog" else holder, signal.SIGKILL)

    until(lambda: name not in names(api))
    end(process)


@pytest.mark.slow
@pytest.mark.parametrize("delay_s", [0.3, 0.6, 1.0, 2.0])
def test_killing_it_all_during_the_start_leaves_nothing(api, own_folder, delay_s):
    before = names(api)
    process = user()
    time.sleep(delay_s)
    end(process)

    until(lambda: names(api) <= before)
    # Files alone may stay where nobody was there yet to remove them, until the next start.
    orders = lambda data: Orders(serve=["sleep", "1000"], ready=str(data), hello={})  # noqa: E731
    with contextlib.closing(lease("other", orders)):
        until(lambda: len(list(own_folder.glob("lifelong-gym-data-*"))) == 1)


@pytest.mark.slow
def test_what_was_made_and_never_started_is_removed_at_the_next_start(api, own_folder):
    from lifelong_gym.backends.database import docker as driver

    host = os.uname().nodename
    labels = {"lifelong-gym": "database", "lifelong-gym.holder": f"{host} {2**22 + 5} 1"}
    image = driver.find_image(driver.IMAGES)
    api.create_container(image, "true", name="lifelong-gym-left", labels=labels)
    labels["lifelong-gym.holder"] = f"elsewhere {2**22 + 5} 1"
    api.create_container(image, "true", name="lifelong-gym-elsewhere", labels=labels)
    database = open_database("docker")
    try:
        assert database.version
        assert "lifelong-gym-left" not in names(api)
        assert "lifelong-gym-elsewhere" in names(api)
    finally:
        api.remove_container("lifelong-gym-elsewhere")
        database.close()


@pytest.mark.slow
def test_the_container_can_do_little(api, own_folder):
    process = user()
    name = container_of(process)
    config = api.inspect_container(name)
    end(process)
    host = config["HostConfig"]

    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"]
    assert host["CapDrop"] == ["ALL"]
    assert host["Memory"] > 0
    assert host["PidsLimit"] > 0
    assert config["Config"]["User"] == "65534:65534"
    until(lambda: name not in names(api))


def test_an_image_that_is_not_there_is_named_with_the_command(api):
    with pytest.raises(BackendUnavailableError, match="docker pull no/such:image"):
        open_database("docker?image=no%2Fsuch%3Aimage").create([])


def test_without_a_daemon_the_message_says_how_to_start_one(monkeypatch):
    pytest.importorskip("docker")
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent.sock")

    with pytest.raises(BackendUnavailableError, match="systemctl start docker"):
        open_database("docker").create([])


def test_a_daemon_elsewhere_is_refused(monkeypatch):
    pytest.importorskip("docker")
    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:2375")

    with pytest.raises(BackendUnavailableError, match="a daemon on this machine"):
        open_database("docker").create([])


@pytest.mark.slow
def test_an_image_without_mysql_says_so(api, own_folder, tmp_path):
    archive = tmp_path / "empty.tar"
    subprocess.run(["tar", "-cf", archive, "-C", "/", "bin/true"], check=True)
    api.import_image(str(archive), repository="lifelong-gym-test-empty")
    try:
        with pytest.raises(BackendUnavailableError, match="did not start"):
            open_database("docker?image=lifelong-gym-test-empty").create([])
    finally:
        with contextlib.suppress(Exception):
            api.remove_image("lifelong-gym-test-empty")
