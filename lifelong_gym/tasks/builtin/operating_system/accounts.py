"""Accounts: users, groups, shells and the age of passwords."""

from __future__ import annotations

from lifelong_gym.tasks.builtin.operating_system.form import change

TASKS = (
    change(
        "accounts/new-colleague",
        skills="groupadd useradd",
        ask="""Create the group "lab" with the group id 4200 and the user "mara" with the home
            directory /home/mara, the login shell /bin/bash and "lab" as primary group. The home
            directory must exist.""",
        check="""
            [ "$(getent group lab | cut -d: -f3)" = 4200 ] || exit 1
            [ "$(getent passwd mara | cut -d: -f4,6,7)" = 4200:/home/mara:/bin/bash ] || exit 1
            [ "$(stat -c %U:%G /home/mara)" = mara:lab ]
        """,
        solution="""
            groupadd -g 4200 lab
            useradd -m -d /home/mara -s /bin/bash -g lab mara
        """,
    ),
    change(
        "accounts/two-more-groups",
        skills="addgroup usermod",
        ask="""Create the groups "scanner-users" and "plotter-users", and add the existing user
            "ravi" to both as supplementary groups. He must stay a member of the groups that he is
            in now, and his primary group must not change.""",
        setup="groupadd choir && useradd -m -G choir ravi",
        check="""
            [ "$(id -gn ravi)" = ravi ] || exit 1
            [ "$(id -Gn ravi | tr ' ' '\\n' | sort | tr '\\n' ' ')" \\
                = "choir plotter-users ravi scanner-users " ]
        """,
        solution="""
            addgroup scanner-users
            addgroup plotter-users
            usermod -aG scanner-users,plotter-users ravi
        """,
    ),
    change(
        "accounts/change-of-team",
        skills="gpasswd",
        ask="""The user "ilse" leaves the group "red" and joins the group "blue"; the user "tomas"
            is made an administrator of the group "blue". All of them exist. Change nothing
            else.""",
        setup="""
            groupadd red && groupadd blue
            useradd ilse && useradd tomas && useradd otto
            gpasswd -M ilse,otto red && gpasswd -M tomas blue
        """,
        check="""
            [ "$(getent group red | cut -d: -f4)" = otto ] || exit 1
            [ "$(getent group blue | cut -d: -f4 | tr , '\\n' | sort | tr '\\n' ' ')" \\
                = "ilse tomas " ] || exit 1
            [ "$(awk -F: '$1 == "blue" {print $3}' /etc/gshadow)" = tomas ]
        """,
        solution="""
            gpasswd -d ilse red
            gpasswd -a ilse blue
            gpasswd -A tomas blue
        """,
    ),
    change(
        "accounts/password-rules",
        skills="chage",
        ask="""The password of the user "dana" must expire 60 days after it was last changed, with a
            warning 10 days before, and the account itself must expire on 31 December 2031.""",
        setup="useradd dana",
        check="""
            [ "$(awk -F: '$1 == "dana" {print $5 ":" $6 ":" $8}' /etc/shadow)" = 60:10:22644 ]
        """,
        solution="chage -M 60 -W 10 -E 2031-12-31 dana",
    ),
    change(
        "accounts/no-login",
        skills="chsh",
        ask="""Set the login shell of the users "backup1" and "backup2" to /usr/sbin/nologin. The
            user "backup3" keeps the shell that it has.""",
        setup="for name in backup1 backup2 backup3; do useradd -s /bin/bash $name || exit 1; done",
        check="""
            for name in backup1 backup2 backup3; do getent passwd $name | cut -d: -f7; done |
                tr '\\n' ' ' | grep -qx '/usr/sbin/nologin /usr/sbin/nologin /bin/bash '
        """,
        solution="""
            chsh -s /usr/sbin/nologin backup1
            chsh -s /usr/sbin/nologin backup2
        """,
    ),
)
