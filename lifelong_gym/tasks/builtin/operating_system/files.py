"""Files and folders: copying, moving, removing, linking, finding."""

from __future__ import annotations

from lifelong_gym.tasks.builtin.operating_system.form import change, question

_PHOTOS = """
    mkdir -p /srv/photos/2021 /srv/photos/2022 '/srv/photos/2022/sea side'
    cd /srv/photos
    for name in 2021/a.jpg 2021/b.JPG 2022/c.jpg '2022/sea side/d.jpg' 2022/notes.txt; do
        echo "$name" > "$name"
    done
    ln -s ../2021/a.jpg 2022/linked.jpg
"""

TASKS = (
    change(
        "files/keep-the-old-settings",
        skills="cp mkdir mv touch",
        ask="""In /opt/shop, create the folder "old". Copy settings.ini into it, with the same
            modification time, and move draft.ini into it. Then create the empty file
            /opt/shop/maintenance.""",
        setup="""
            mkdir -p /opt/shop && cd /opt/shop
            echo port=80 > settings.ini && touch -d '2020-02-02 10:00' settings.ini
            echo port=81 > draft.ini
        """,
        check="""
            cd /opt/shop || exit 1
            [ "$(cat old/settings.ini settings.ini)" = "$(printf 'port=80\\nport=80')" ] || exit 1
            [ "$(stat -c %Y old/settings.ini)" = "$(stat -c %Y settings.ini)" ] || exit 1
            [ "$(cat old/draft.ini)" = port=81 ] && [ ! -e draft.ini ] || exit 1
            [ -f maintenance ] && [ ! -s maintenance ]
        """,
        solution="""
            mkdir /opt/shop/old
            cp -p /opt/shop/settings.ini /opt/shop/old/
            mv /opt/shop/draft.ini /opt/shop/old/
            touch /opt/shop/maintenance
        """,
    ),
    change(
        "files/current-release",
        skills="cd ln ls",
        ask="""In /srv/app, the symbolic link "current" must point to the newest release, which is
            the folder under /srv/app/releases with the highest version number; as text, the link
            holds "releases/" and the version. In the same folder, "config.yml" must be a hard link
            to /srv/app/shared/config.yml.""",
        setup="""
            mkdir -p /srv/app/shared /srv/app/releases/{1.2.0,1.9.3,1.10.1}
            echo 'debug: no' > /srv/app/shared/config.yml
            ln -s releases/1.2.0 /srv/app/current
        """,
        check="""
            [ "$(readlink /srv/app/current)" = releases/1.10.1 ] || exit 1
            [ ! -L /srv/app/config.yml ] || exit 1
            [ /srv/app/config.yml -ef /srv/app/shared/config.yml ]
        """,
        solution="""
            cd /srv/app
            ls -v releases
            ln -sfn releases/1.10.1 current
            ln shared/config.yml config.yml
        """,
    ),
    change(
        "files/clear-the-cache",
        skills="find rm",
        ask="""Under /var/cache/tiles, remove every regular file whose name ends in ".tmp" and every
            empty folder, also those that are empty only then. Keep /var/cache/tiles itself and
            everything else.""",
        setup="""
            mkdir -p /var/cache/tiles/{a/b/c,d,e.tmp,keep} && cd /var/cache/tiles
            echo 1 > a/b/c/1.tmp; echo 2 > d/2.tmp; echo 3 > d/3.png; echo 4 > keep/x.tmpl
            echo 5 > e.tmp/5.png; ln -s ../d/3.png keep/link.tmp
        """,
        check="""
            cd /var/cache/tiles || exit 1
            [ "$(find . | sort | tr '\\n' ' ')" \\
                = ". ./d ./d/3.png ./e.tmp ./e.tmp/5.png ./keep ./keep/link.tmp ./keep/x.tmpl " ]
        """,
        solution="""
            find /var/cache/tiles -type f -name '*.tmp' -exec rm {} +
            find /var/cache/tiles -mindepth 1 -type d -empty -delete
        """,
    ),
    question(
        "files/how-many-photos",
        skills="find wc",
        ask="""How many regular files under /srv/photos have a name that ends in ".jpg" in any mix
            of capital and small letters? Answer with the number alone.""",
        setup=_PHOTOS,
        answer="4",
        solution="find /srv/photos -type f -iname '*.jpg' | wc -l",
    ),
)
