"""The root filesystem that is made from the machine's own `/usr`, where no other is given.

Only `/usr` is the machine's. Everything else is new: accounts, an empty `/home`, `/root`,
`/var` and `/tmp`, and the few files of `/etc` that tools cannot do without. Nothing that
could hold a secret is copied.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

_FOLDERS = [
    "boot",
    "dev",
    "etc",
    "home",
    "media",
    "mnt",
    "opt",
    "proc",
    "root",
    "run",
    "srv",
    "sys",
    "tmp",
    "usr",
    "var",
    "etc/default",
    "etc/pam.d",
    "etc/security",
    "etc/cron.d",
    "etc/init.d",
    "etc/ssh",
    "etc/sudoers.d",
    "etc/profile.d",
    "etc/logrotate.d",
    "var/backups",
    "var/cache",
    "var/lib",
    "var/local",
    "var/log",
    "var/mail",
    "var/opt",
    "var/spool",
    "var/spool/cron",
    "var/tmp",
    "var/www",
]

_COPIED = [
    "adduser.conf",
    "alternatives",
    "bash.bashrc",
    "debconf.conf",
    "debian_version",
    "default/useradd",
    "default/nss",
    "deluser.conf",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "login.defs",
    "lsb-release",
    "magic",
    "mime.types",
    "os-release",
    "pam.conf",
    "perl",
    "profile",
    "protocols",
    "rpc",
    "services",
    "shells",
    "skel",
    "terminfo",
    "timezone",
    "vim",
    "vimrc",
    "security/limits.conf",
    "security/pam_env.conf",
]

_NSSWITCH = "passwd: files\ngroup: files\nshadow: files\ngshadow: files\nhosts: files dns\n"
_HOSTS = "127.0.0.1\tlocalhost sandbox\n::1\tlocalhost\n"
_LOGIN = "root:x:0:0:root:/root:/bin/bash\n"
_PAM = {
    "common-account": "account required pam_unix.so\n",
    "common-auth": "auth required pam_unix.so nullok\n",
    "common-password": "password required pam_unix.so obscure\n",
    "common-session": "session required pam_unix.so\n",
    "common-session-noninteractive": "session required pam_unix.so\n",
    "other": "@include common-auth\n@include common-account\n"
    "@include common-password\n@include common-session\n",
    "su": "auth sufficient pam_rootok.so\n@include common-auth\n"
    "@include common-account\n@include common-session\n",
}
_TOOLS_OF_ROOT = [
    "chage",
    "chfn",
    "chpasswd",
    "chsh",
    "groupadd",
    "groupdel",
    "groupmod",
    "newusers",
    "passwd",
]
_OTHER_TOOLS = ["su-l", "runuser", "runuser-l", "sudo", "sudo-i", "login", "cron", "atd"]

_PASSWD_MASTER = Path("/usr/share/base-passwd/passwd.master")
_GROUP_MASTER = Path("/usr/share/base-passwd/group.master")
_FEW_USERS = """\
daemon:*:1:1::/usr/sbin:/usr/sbin/nologin
nobody:*:65534:65534::/nonexistent:/usr/sbin/nologin
"""
_FEW_GROUPS = """\
daemon:*:1:
adm:*:4:
mail:*:8:
sudo:*:27:
shadow:*:42:
users:*:100:
nogroup:*:65534:
"""
_SPECIAL_MODES = (("root", 0o700), ("tmp", 0o1777), ("var/tmp", 0o1777), ("var/mail", 0o2775))
_LAST_CHANGE = 19_000  # a fixed day, in days since 1970: the same accounts in every run


def make_skeleton(folder: Path, base: int, shadow_group: int) -> None:
    """Writes everything but `/usr`.

    Args:
        folder: An empty folder in memory.
        base: The id that root has in a sandbox.
        shadow_group: The id of the group that may read the passwords' hashes.
    """
    for name in _FOLDERS:
        (folder / name).mkdir()
    _link_tools(folder)
    _copy_settings(folder / "etc")
    _write_settings(folder / "etc")
    _write_accounts(folder / "etc")
    for name in ("wtmp", "btmp", "lastlog"):
        (folder / "var/log" / name).touch()
    _give(folder, base, shadow_group)


def _link_tools(folder: Path) -> None:
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        if Path("/", name).is_symlink():
            (folder / name).symlink_to(Path("/", name).readlink())
        elif (Path("/usr") / name).is_dir():
            (folder / name).symlink_to(f"usr/{name}")
    (folder / "var/run").symlink_to("/run")
    (folder / "var/lock").symlink_to("/run/lock")
    (folder / "var/spool/mail").symlink_to("../mail")
    (folder / "etc/mtab").symlink_to("../proc/self/mounts")


def _copy_settings(etc: Path) -> None:
    for name in _COPIED:
        source, target = Path("/etc") / name, etc / name
        with contextlib.suppress(OSError):  # not here, or not for us to read
            if source.is_dir() and not source.is_symlink():
                shutil.copytree(source, target, symlinks=True)
            else:
                shutil.copy2(source, target)


def _write_settings(etc: Path) -> None:
    for name, text in _PAM.items():
        (etc / "pam.d" / name).write_text(text)
    for name in _TOOLS_OF_ROOT:
        (etc / "pam.d" / name).write_text("auth sufficient pam_rootok.so\n" + _PAM["other"])
    for name in _OTHER_TOOLS:
        (etc / "pam.d" / name).write_text(_PAM["su"])
    texts = {"nsswitch.conf": _NSSWITCH, "hosts": _HOSTS, "hostname": "sandbox\n"}
    texts |= {"fstab": "", "motd": "", "issue": "Debian GNU/Linux\n", "crontab": ""}
    texts |= {"sudoers": "root ALL=(ALL:ALL) ALL\n%sudo ALL=(ALL:ALL) ALL\n"}
    for name, text in texts.items():
        (etc / name).write_text(text)
    (etc / "sudoers").chmod(0o440)


def _write_accounts(etc: Path) -> None:
    users = _master(_PASSWD_MASTER, _FEW_USERS)
    groups = _master(_GROUP_MASTER, _FEW_GROUPS)
    names = [line.partition(":")[0] for line in users]
    passwd = [_LOGIN.strip(), *(line.replace(":*:", ":x:", 1) for line in users)]
    shadow = [f"{name}:*:{_LAST_CHANGE}:0:99999:7:::" for name in ["root", *names]]
    group = ["root:x:0:", *(line.replace(":*:", ":x:", 1) for line in groups)]
    gshadow = [f"{line.partition(':')[0]}:*::" for line in group]
    lines = {"passwd": passwd, "group": group, "shadow": shadow, "gshadow": gshadow}
    for name, content in lines.items():
        (etc / name).write_text("\n".join(content) + "\n")
        (etc / name).chmod(0o640 if "shadow" in name else 0o644)
    for name in ("subuid", "subgid"):
        (etc / name).touch()


def _master(path: Path, otherwise: str) -> list[str]:
    """A distribution's accounts without root."""
    try:
        text = path.read_text()
    except OSError:
        text = otherwise
    return [line for line in text.splitlines() if line and not line.startswith("root:")]


def _give(folder: Path, base: int, shadow_group: int) -> None:
    """Makes everything root's, as a sandbox sees it."""
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            os.lchown(os.path.join(parent, name), base, base)  # noqa: PTH118 - hundreds of them
    os.chown(folder, base, base)
    for name in ("etc/shadow", "etc/gshadow"):
        os.chown(folder / name, base, shadow_group)
    for name, mode in _SPECIAL_MODES:  # chown has cleared some of their bits
        (folder / name).chmod(mode)
