"""What an agent may send that wants to harm: scripts of statements, by what they aim at."""

from __future__ import annotations

from typing import NamedTuple

RIGHT = "UPDATE staff SET name = 'Bob' WHERE id = 2"
"""What the task asks for."""

DIGITS = "(SELECT 0 d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4)"
MANY = ", ".join(f"{DIGITS} x{n}" for n in range(12))
LOOP = "BEGIN DECLARE n INT DEFAULT 0; WHILE n < {times} DO {body}; SET n = n + 1; END WHILE; END"


EVERYWHERE = ("local", "seekdb", "docker")


class Script(NamedTuple):
    """Statements, and where the state that they leave is the right one after all."""

    statements: tuple[str, ...]
    is_right_on: tuple[str, ...] = ()


def script(*statements, is_right_on=()):
    return Script(statements, is_right_on)


def repeated(body, times):
    """A procedure that does `body` many times in one statement."""
    made = f"SET @t = CONCAT('{body}'); PREPARE s FROM @t; EXECUTE s"
    return f"CREATE PROCEDURE p() {LOOP.format(times=times, body=made)}", "CALL p()"


def more_tables(batches):
    """Several statements, since each has a limit on its time."""
    for batch in range(batches):
        yield "DROP PROCEDURE p"
        yield from repeated(f"CREATE TABLE t{batch}_', n, ' (a INT)", 900)


TABLES = {
    "drops its table": script("DROP TABLE staff"),
    "drops its database": script("DROP DATABASE task_database"),
    "makes its database anew": script(
        "DROP DATABASE task_database",
        "CREATE DATABASE task_database",
        "CREATE TABLE task_database.staff (id INT, name TEXT)",
    ),
    "renames its table": script("RENAME TABLE staff TO crew"),
    "empties its table": script("TRUNCATE staff", "INSERT INTO staff VALUES (2, 'Bob')"),
    "puts a view in the place of its table": script(
        "RENAME TABLE staff TO hidden",
        "CREATE VIEW staff AS SELECT id, IF(id = 2, 'Bob', name) AS name FROM hidden",
    ),
    "puts a view that sleeps there": script(
        "DROP TABLE staff", "CREATE VIEW staff AS SELECT 1 AS id, SLEEP(600) AS name"
    ),
    "hides its table behind a temporary one": script(
        "CREATE TEMPORARY TABLE staff AS SELECT id, name FROM staff",
        RIGHT,
        is_right_on=("seekdb",),  # which has no temporary tables
    ),
    "takes the table's space away": script("ALTER TABLE staff DISCARD TABLESPACE"),
    "makes a table of 2,000 partitions": script(
        "CREATE TABLE wide (a INT) PARTITION BY HASH(a) PARTITIONS 2000", RIGHT
    ),
    "adds a column that is slow to compute": script(
        RIGHT,
        "ALTER TABLE staff ADD slow TEXT AS (SHA2(REPEAT(id, 30000000), 512)) VIRTUAL",
        *["INSERT INTO staff (id, name) SELECT 7, 'x' FROM staff"] * 5,
    ),
    "adds a trigger that sleeps": script(
        "CREATE TRIGGER slow BEFORE UPDATE ON staff FOR EACH ROW SET @a = SLEEP(600)", RIGHT
    ),
    "ties tables to each other": script(
        "ALTER TABLE staff ADD PRIMARY KEY (id)",
        "CREATE TABLE child (a INT, FOREIGN KEY (a) REFERENCES staff (id))",
        "INSERT INTO child VALUES (1)",
        "SET foreign_key_checks = 0",
    ),
    "changes the character set of everything": script(
        "ALTER DATABASE task_database CHARACTER SET latin1",
        "ALTER TABLE staff CONVERT TO CHARACTER SET latin1",
    ),
    "makes its database read-only": script("ALTER DATABASE task_database READ ONLY = 1"),
    "uses names that break quotes": script(
        "CREATE TABLE `a``; DROP DATABASE mysql; -- x` (`b``\"'` INT)", RIGHT
    ),
}

TRANSACTIONS = {
    "does not commit": script("START TRANSACTION", RIGHT),
    "turns autocommit off": script("SET autocommit = 0", RIGHT),
    "locks its table": script("LOCK TABLES staff WRITE"),
    "locks its table for reading": script(
        "LOCK TABLES staff READ",
        RIGHT,
        is_right_on=("seekdb",),  # which has no such locks
    ),
    "locks its table and is right": script(
        "LOCK TABLES staff WRITE", RIGHT, is_right_on=EVERYWHERE
    ),
    "locks its rows": script("START TRANSACTION", "SELECT * FROM staff FOR UPDATE"),
    "takes named locks": script(
        "SELECT GET_LOCK('lifelonggym', 0), GET_LOCK('task_database', 0)",
        "SELECT RELEASE_ALL_LOCKS()",
        "SELECT GET_LOCK('a', 1000)",
    ),
    "locks the server": script(
        "FLUSH TABLES WITH READ LOCK",
        "LOCK INSTANCE FOR BACKUP",
        "BACKUP STAGE START",
        "BACKUP LOCK staff",
    ),
    "prepares a transaction that outlives it": script(
        "XA START 'x'",
        "EXECUTE IMMEDIATE 'XA START ''x'''",
        RIGHT,
        "EXECUTE IMMEDIATE 'XA END ''x'''",
        "EXECUTE IMMEDIATE 'XA PREPARE ''x'''",
        "DELETE FROM staff WHERE id = 3",
    ),
    "opens a handler": script("HANDLER staff OPEN", "HANDLER staff READ FIRST"),
}

RIGHTS = {
    "grants itself everything": script(
        "GRANT ALL ON *.* TO CURRENT_USER()",
        "GRANT ALL ON task_database.* TO somebody",
        "UPDATE mysql.user SET Super_priv = 'Y'",
    ),
    "makes and removes accounts": script(
        "CREATE USER somebody", "DROP USER root@localhost", "CREATE ROLE all_of_it"
    ),
    "changes its password": script("SET PASSWORD = 'new'", "SELECT 1"),
    "changes its password otherwise": script(
        "ALTER USER USER() IDENTIFIED BY 'other'",
        "SET PASSWORD = PASSWORD('new')",
        "KILL CONNECTION_ID()",
        "SELECT 1",
    ),
    "changes the whole server": script(
        "SET GLOBAL max_connections = 1",
        "SET GLOBAL sql_mode = ''",
        "SET GLOBAL read_only = 1",
        "SET PERSIST max_connections = 1",
        "ALTER SYSTEM SET memory_limit = '1G'",
    ),
    "stops the server": script("SHUTDOWN", "RESTART", "ALTER INSTANCE ROTATE INNODB MASTER KEY"),
    "kills other connections": script(*(f"KILL {number}" for number in range(1, 12))),
    "kills itself": script(RIGHT.replace("2", "3"), "KILL CONNECTION_ID()", "SELECT 1"),
    "loads code": script(
        "INSTALL PLUGIN p SONAME 'p.so'",
        "CREATE FUNCTION sys_exec RETURNS INT SONAME 'udf.so'",
        "INSTALL COMPONENT 'file://component_validate_password'",
    ),
    "reaches for other databases": script(
        "USE mysql",
        "SELECT * FROM mysql.user",
        "SELECT * FROM information_schema.schemata",
        "DROP DATABASE sys",
        "CREATE DATABASE another",
    ),
    "schedules an event": script(
        "SET GLOBAL event_scheduler = ON",
        "CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO DELETE FROM staff",
    ),
}

FILES = {
    "writes files": script(
        "SELECT 'x' INTO OUTFILE '/tmp/lifelong_gym_hostile'",
        "SELECT 'x' INTO DUMPFILE '/tmp/lifelong_gym_hostile'",
        "PREPARE s FROM 'SELECT 1 INTO DUMPFILE ''/tmp/lifelong_gym_hostile'''",
        "EXECUTE s",
    ),
    "reads files": script(
        "LOAD DATA INFILE '/etc/passwd' INTO TABLE staff",
        "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE staff",
        "UPDATE staff SET name = LOAD_FILE('/etc/passwd')",
        "CREATE EXTERNAL TABLE e (a VARCHAR(99)) LOCATION = 'file:///etc/' "
        "FORMAT = (TYPE = 'CSV') PATTERN = 'passwd'",
        "INSERT INTO staff (name) SELECT a FROM e",
        "INSERT INTO staff (name) SELECT * FROM FILES(LOCATION = 'file:///etc/', "
        "FORMAT (TYPE = 'CSV'), PATTERN = 'passwd')",
    ),
    "keeps data elsewhere": script(
        "CREATE TABLE f (a INT) DATA DIRECTORY = '/tmp'",
        "CREATE TABLE c (a INT NOT NULL) ENGINE = CSV",
        "CREATE TABLE m (a INT) ENGINE = MyISAM DATA DIRECTORY = '/tmp'",
        "CREATE TABLE n (a INT) ENGINE = MEMORY",
        "CREATE TABLE r (a INT) ENGINE = FEDERATED CONNECTION = 'mysql://root@localhost/mysql/user'",
    ),
}

TIME = {
    "sleeps": script("SELECT SLEEP(600)"),
    "sleeps in a transaction": script("START TRANSACTION", f"{RIGHT} AND SLEEP(600) = 0"),
    "lifts its limit and sleeps": script(
        "SET max_statement_time = 0",
        "SET max_execution_time = 0",
        "SET ob_query_timeout = 3600000000",
        "SET STATEMENT max_statement_time = 0 FOR SELECT SLEEP(600)",
        "DO SLEEP(600)",
    ),
    "computes without end": script("SELECT BENCHMARK(1000000000000, SHA2('a', 512))"),
    "joins without end": script(f"SELECT SUM(x0.d * x5.d) FROM {MANY}, {MANY.replace('x', 'y')}"),
    "recurs without end": script(
        "SET cte_max_recursion_depth = 4294967295",
        "SET max_recursive_iterations = 4294967295",
        "WITH RECURSIVE r AS (SELECT 1 x UNION ALL SELECT x + 1 FROM r) SELECT MAX(x) FROM r",
    ),
    "loops without end": script(
        "CREATE PROCEDURE p() BEGIN l: LOOP SET @a = 1; END LOOP; END", "CALL p()"
    ),
    "loops and swallows errors": script(
        "CREATE PROCEDURE p() BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END; "
        "l: LOOP DO SLEEP(1); END LOOP; END",
        "CALL p()",
    ),
    "calls itself": script(
        "SET max_sp_recursion_depth = 255", "CREATE PROCEDURE p() CALL p()", "CALL p()"
    ),
    "backtracks": script(f"SELECT REGEXP_LIKE('{'a' * 40}b', '^(a|aa)+$')"),
    "changes many rows and is stopped": script(
        "CREATE TABLE big (a INT, b TEXT)",
        f"INSERT INTO big SELECT 1, REPEAT('x', 100) FROM {MANY}",
    ),
}

SIZE = {
    "makes thousands of tables": script(
        *repeated("CREATE TABLE t', n, ' (a INT)", 900),
        *["SET @t = NULL", RIGHT],
        *more_tables(3),
        is_right_on=("seekdb",),  # which runs no prepared text, and so makes none
    ),
    "makes 500 views": script(
        *repeated("CREATE VIEW v', n, ' AS SELECT SLEEP(9) a", 500),
        RIGHT,
        is_right_on=("seekdb",),  # likewise
    ),
    "returns rows without end": script(f"SELECT REPEAT('x', 10000) FROM {MANY}"),
    "returns one huge value": script(
        "SELECT REPEAT('x', 1 << 30)", "SELECT REPEAT('x', 60000000)", "SELECT SPACE(60000000)"
    ),
    "fills a table": script(
        "CREATE TABLE big (a LONGTEXT)",
        "INSERT INTO big VALUES (REPEAT('x', 4000000))",
        *["INSERT INTO big SELECT a FROM big"] * 5,
    ),
    "concatenates without bound": script(
        "SET group_concat_max_len = 4294967295",
        f"SELECT LENGTH(GROUP_CONCAT(REPEAT('x', 60000))) FROM {MANY}",
    ),
    "fills the memory with tables": script(
        "SET max_heap_table_size = 17179869184",
        "CREATE TABLE m (a VARCHAR(16000)) ENGINE = MEMORY",
        f"INSERT INTO m SELECT REPEAT('x', 16000) FROM {MANY}",
    ),
    "fills the memory with variables": script(
        *(f"SET @v{number} = REPEAT('x', 60000000)" for number in range(8))
    ),
    "asks for huge buffers": script(
        "SET sort_buffer_size = 4294967295",
        "SET join_buffer_size = 4294967295",
        "SET tmp_table_size = 17179869184",
        f"SELECT x0.d, REPEAT('x', 1000) r FROM {MANY} ORDER BY r, 1 LIMIT 3",
    ),
    "prepares thousands of statements": script(
        "CREATE PROCEDURE p() "
        + LOOP.format(times=300, body="PREPARE s FROM 'SELECT SLEEP(0)'; EXECUTE s"),
        "CALL p()",
    ),
    "sends a statement of a megabyte": script(f"SELECT '{'x' * 1_000_000}' = 'x'"),
    "nests ten thousand parentheses": script(f"SELECT {'(' * 10_000}1{')' * 10_000}"),
}

SESSION = {
    "changes its character set": script(
        "SET NAMES latin1", "SET character_set_results = ucs2", "UPDATE staff SET name = 'é'"
    ),
    "changes how text is read": script(
        "SET sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES'",
        "SET time_zone = '+09:00'",
        "SET timestamp = 1",
    ),
    "waits on nobody": script(
        "SET lock_wait_timeout = 31536000", "SET wait_timeout = 1", "SET net_write_timeout = 1"
    ),
    "sends two statements": script(f"{RIGHT}; DROP TABLE staff"),
}

SCRIPTS = TABLES | TRANSACTIONS | RIGHTS | FILES | TIME | SIZE | SESSION
