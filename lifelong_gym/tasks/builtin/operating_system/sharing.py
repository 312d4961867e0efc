"""Owners, groups and modes."""

from __future__ import annotations

from lifelong_gym.tasks.builtin.operating_system.form import change

TASKS = (
    change(
        "sharing/team-folder",
        skills="chgrp chmod mkdir",
        ask="""Create the folder /srv/team for the group "team", which exists: it belongs to root
            and the group, both may do everything in it and nobody else anything, and new files in
            it get the group "team" by themselves.""",
        setup="groupadd team",
        check="""
            [ "$(stat -c '%U:%G %a' /srv/team)" = "root:team 2770" ]
        """,
        solution="""
            mkdir /srv/team
            chgrp team /srv/team
            chmod 2770 /srv/team
        """,
    ),
    change(
        "sharing/website",
        skills="chmod chown find",
        ask="""Everything in /var/www/site, the folder itself included, must belong to the user
            "web" and the group "web". Folders get the mode 750, regular files 640, but files whose
            name ends in ".sh" get 750.""",
        setup="""
            useradd web && mkdir -p /var/www/site/img && cd /var/www/site
            echo x > index.html; echo y > img/x.png; echo z > deploy.sh; chmod 600 deploy.sh
            chmod 777 img index.html
        """,
        check="""
            cd /var/www/site || exit 1
            [ "$(find . -printf '%p %u:%g %m\\n' | sort)" = "$(sort <<'END'
            . web:web 750
            ./img web:web 750
            ./index.html web:web 640
            ./img/x.png web:web 640
            ./deploy.sh web:web 750
            END
            )" ]
        """,
        solution="""
            chown -R web:web /var/www/site
            find /var/www/site -type d -exec chmod 750 {} +
            find /var/www/site -type f -exec chmod 640 {} +
            find /var/www/site -type f -name '*.sh' -exec chmod 750 {} +
        """,
    ),
    change(
        "sharing/private-key",
        skills="chmod chown cp mkdir",
        ask="""Give the user "nina" a copy of /root/deploy.key as /home/nina/.ssh/deploy.key. The
            folder .ssh and the key belong to her and her primary group; the folder's mode is 700,
            the key's 600. The original stays as it is.""",
        setup="useradd -m nina && echo secret > /root/deploy.key && chmod 400 /root/deploy.key",
        check="""
            cd /home/nina || exit 1
            [ "$(stat -c '%U:%G %a' .ssh)" = "nina:nina 700" ] || exit 1
            [ "$(stat -c '%U:%G %a' .ssh/deploy.key)" = "nina:nina 600" ] || exit 1
            [ "$(stat -c '%U:%G %a' /root/deploy.key)" = "root:root 400" ] || exit 1
            cmp -s /root/deploy.key .ssh/deploy.key
        """,
        solution="""
            mkdir -p /home/nina/.ssh
            cp /root/deploy.key /home/nina/.ssh/deploy.key
            chown -R nina:nina /home/nina/.ssh
            chmod 700 /home/nina/.ssh
            chmod 600 /home/nina/.ssh/deploy.key
        """,
    ),
)
