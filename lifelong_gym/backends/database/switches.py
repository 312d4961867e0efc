"""How a private server is started: fast, since its data live as long as a run; and bounded."""

from __future__ import annotations

CLEANLY = "--innodb-fast-shutdown=1"
"""For a server that only prepares the data of the one that serves."""

COMMON = (
    "--no-defaults",
    "--skip-networking",
    "--skip-log-bin",
    "--skip-name-resolve",
    "--local-infile=OFF",
    "--loose-performance-schema=OFF",
    "--loose-mysqlx=OFF",
    "--loose-sysdate-is-now",
    "--character-set-server=utf8mb4",
    "--automatic-sp-privileges=OFF",  # they would outlive the database of a routine
    "--max-allowed-packet=64M",
    "--maximum-max-heap-table-size=64M",  # what sessions may set them to
    "--maximum-tmp-table-size=64M",
    "--maximum-sort-buffer-size=16M",
    "--maximum-join-buffer-size=16M",
    "--maximum-read-buffer-size=2M",
    "--maximum-read-rnd-buffer-size=2M",
    "--maximum-bulk-insert-buffer-size=16M",
    "--max-connections=2000",
    "--innodb-buffer-pool-size=64M",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-doublewrite=0",
    "--innodb-stats-persistent=0",
    "--innodb-fast-shutdown=2",
    "--innodb-buffer-pool-dump-at-shutdown=OFF",
    "--innodb-data-file-path=ibdata1:12M:autoextend:max:4G",
    "--innodb-file-per-table=0",  # so that the bound above holds for all tables together
    "--innodb-temp-data-file-path=ibtmp1:12M:autoextend:max:1G",
)
MARIADB = (
    "--skip-symbolic-links",
    "--innodb-log-file-size=16M",
    "--aria-pagecache-buffer-size=4M",
    "--aria-log-file-size=16M",
)
MARIADB_SERVES = ("--enforce-storage-engine=InnoDB",)
"""Once its own tables are made: the bounds are InnoDB's, other engines have none."""
MYSQL = (
    "--disabled-storage-engines=MyISAM,MRG_MyISAM,CSV,ARCHIVE,BLACKHOLE,FEDERATED,MEMORY",
    "--secure-file-priv=NULL",
    "--innodb-redo-log-capacity=32M",
    "--auto-generate-certs=OFF",  # nobody reaches it but over its socket
    "--caching-sha2-password-auto-generate-rsa-keys=OFF",
)
ALL = (*COMMON, *MARIADB, *MARIADB_SERVES, *MYSQL)
"""For whether two processes would start a server alike."""
