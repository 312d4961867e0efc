"""Scripts: exit codes, waiting, working in the background."""

from __future__ import annotations

from lifelong_gym.tasks.builtin.operating_system.form import change

TASKS = (
    change(
        "scripts/is-it-safe",
        skills="chmod cat exit",
        ask="""Write the executable script /usr/local/bin/is-safe. Called with the path of a file,
            it exits with 0 if that is a regular file that only its owner may write, with 1 if
            others or the group may write it too, and with 2 if there is no such regular file. It
            prints nothing.""",
        check="""
            cd "$(mktemp -d)" && touch good group world && mkdir folder || exit 1
            chmod 644 good; chmod 664 group; chmod 646 world
            codes=
            for name in good group world folder none; do
                said=$(/usr/local/bin/is-safe $name 2>&1); codes="$codes $?$said"
            done
            [ "$codes" = " 0 1 1 2 2" ]
        """,
        solution="""
            cat > /usr/local/bin/is-safe <<'END'
            #!/bin/bash
            [ -f "$1" ] || exit 2
            mode=$(stat -c %a "$1")
            [ $(( 8#$mode & 8#022 )) = 0 ] || exit 1
            END
            chmod 755 /usr/local/bin/is-safe
        """,
    ),
    change(
        "scripts/two-readings",
        skills="cat echo sleep",
        ask="""Write the first line of /srv/counter to /root/readings.txt, wait for at least one
            second, and add its first line as it is then: the counter is increased every 0.2 seconds
            by a process that is running. The file has two lines in the end, and they differ by at
            least 4.""",
        setup="""
            echo 0 > /srv/counter
            (for i in {1..1000}; do
                echo $i > /srv/new; mv /srv/new /srv/counter; sleep 0.2
            done) > /dev/null 2>&1 &
        """,
        check="""
            [ "$(wc -l < /root/readings.txt)" = 2 ] || exit 1
            { read -r first; read -r second; } < /root/readings.txt
            [ $((second - first)) -ge 4 ]
        """,
        solution="""
            echo "$(cat /srv/counter)" > /root/readings.txt
            sleep 1.3
            echo "$(cat /srv/counter)" >> /root/readings.txt
        """,
    ),
)
