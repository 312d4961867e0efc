"""Texts: reading, counting, filtering and editing them."""

from __future__ import annotations

from lifelong_gym.tasks.builtin.operating_system.form import change, question

_ACCESS = """
    mkdir -p /var/log/web && cd /var/log/web
    {
        echo '10.0.0.5 GET /index.html 200 512'
        echo '10.0.0.9 GET /missing 404 90'
        echo '10.0.0.5 POST /login 500 40'
        echo '10.0.0.7 GET /500 200 1500'
        echo '10.0.0.9 GET /report 500 88'
        echo '10.0.0.5 GET /style.css 200 2048'
    } > access.log
"""

TASKS = (
    change(
        "texts/bytes-by-address",
        skills="awk",
        ask="""Each line of /var/log/web/access.log has an address, a method, a path, a status and a
            number of bytes. Write the sum of the bytes of each address to /root/bytes.txt, one line
            an address with a blank between address and sum, in any order.""",
        setup=_ACCESS,
        check="""
            [ "$(sort /root/bytes.txt)" = "10.0.0.5 2600
            10.0.0.7 1500
            10.0.0.9 178" ]
        """,
        solution="""
            awk '{sum[$1] += $5} END {for (a in sum) print a, sum[a]}' /var/log/web/access.log \\
                > /root/bytes.txt
        """,
    ),
    question(
        "texts/failed-requests",
        skills="grep wc",
        ask="""Each line of /var/log/web/access.log has an address, a method, a path, a status and a
            number of bytes. How many requests have the status 500? Answer with the number
            alone.""",
        setup=_ACCESS,
        answer="2",
        solution="grep -E '^[^ ]+ [^ ]+ [^ ]+ 500 ' /var/log/web/access.log | wc -l",
    ),
    change(
        "texts/one-announcement",
        skills="cat echo tee",
        ask="""Append the content of /srv/news/head.txt, then of /srv/news/body.txt, then the line
            "-- the staff", to both /etc/motd and /srv/news/archive.txt. What they hold already
            stays in front.""",
        setup="""
            mkdir -p /srv/news && cd /srv/news
            echo Welcome. > /etc/motd; echo 'Older news.' > archive.txt
            echo 'Power cut' > head.txt; echo 'On Monday at nine.' > body.txt
        """,
        check="""
            news=$(printf 'Power cut\\nOn Monday at nine.\\n-- the staff')
            [ "$(cat /etc/motd)" = "$(printf 'Welcome.\\n%s' "$news")" ] || exit 1
            [ "$(cat /srv/news/archive.txt)" = "$(printf 'Older news.\\n%s' "$news")" ]
        """,
        solution="""
            { cat /srv/news/head.txt /srv/news/body.txt; echo '-- the staff'; } |
                tee -a /etc/motd >> /srv/news/archive.txt
        """,
    ),
    change(
        "texts/move-the-port",
        skills="sed",
        ask="""In /etc/relay.conf, change the value of "port" to 9090 and delete every line that
            begins with "#". Every other line stays exactly as it is, those of other settings whose
            names contain "port" included.""",
        setup="""
            printf '%s\\n' '# relay' 'port = 8080' 'backport = 8080' 'port_name = 8080' \\
                '#port = 1' 'note = port = 8080 # old' > /etc/relay.conf
        """,
        check="""
            [ "$(cat /etc/relay.conf)" = "$(printf '%s\\n' 'port = 9090' 'backport = 8080' \\
                'port_name = 8080' 'note = port = 8080 # old')" ]
        """,
        solution="sed -i -e 's/^port = .*/port = 9090/' -e '/^#/d' /etc/relay.conf",
    ),
    change(
        "texts/edit-in-vi",
        skills="vi",
        ask="""With vi, which works without a screen in its ex mode, move the first line of
            /srv/list.txt to the end of the file and replace every "colour" in it by "color".""",
        setup="printf '%s\\n' 'colour one' 'two' 'three colour colour' > /srv/list.txt",
        check="""
            [ "$(cat /srv/list.txt)" = "$(printf '%s\\n' 'two' 'three color color' 'color one')" ]
        """,
        solution="""
            vi -e -s /srv/list.txt <<'END'
            1m$
            %s/colour/color/g
            wq
            END
        """,
    ),
)
