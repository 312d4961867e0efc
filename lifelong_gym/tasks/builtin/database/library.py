"""A town library: its books, and who has borrowed them."""

from __future__ import annotations

from lifelong_gym.tasks.builtin.database.form import change, question, table

BOOKS = table(
    "books",
    {
        "book_id": "INT NOT NULL PRIMARY KEY",
        "title": "VARCHAR(60) NOT NULL",
        "genre": "VARCHAR(20) NOT NULL",
        "published": "INT NOT NULL",
        "pages": "INT NOT NULL",
        "copies": "INT NOT NULL",
    },
    (
        (1, "The Salt Road", "travel", 2011, 312, 2),
        (2, "Harbour Lights", "novel", 1998, 270, 3),
        (3, "A Field Guide to Moss", "nature", 2016, 188, 1),
        (4, "The Clockmaker", "novel", 2004, 421, 2),
        (5, "Night Trains", "travel", 2019, 240, 1),
        (6, "Bread, Simply", "cookery", 2015, 160, 4),
        (7, "Winter Birds", "nature", 2008, 224, 2),
        (8, "The Glass Orchard", "novel", 2016, 355, 5),
        (9, "Soups of the North", "cookery", 2020, 144, 2),
        (10, "Letters to Ada", "novel", 2021, 198, 1),
        (11, "Rivers and Their Names", "nature", 2001, 290, 1),
        (12, "The Long Walk Home", "travel", 2003, 366, 3),
    ),
)

LOANS = table(
    "loans",
    {
        "loan_id": "INT NOT NULL PRIMARY KEY",
        "book_id": "INT NOT NULL",
        "reader": "VARCHAR(30) NOT NULL",
        "lent_on": "DATE NOT NULL",
        "returned_on": "DATE",
    },
    (
        (101, 2, "Mira", "2024-01-08", "2024-01-29"),
        (102, 4, "Jonas", "2024-01-10", None),
        (103, 8, "Mira", "2024-01-15", "2024-02-02"),
        (104, 6, "Tess", "2024-01-15", "2024-01-20"),
        (105, 8, "Omar", "2024-02-01", None),
        (106, 1, "Jonas", "2024-02-03", "2024-02-24"),
        (107, 12, "Tess", "2024-02-11", None),
        (108, 8, "Tess", "2024-02-14", "2024-03-01"),
        (109, 7, "Omar", "2024-02-20", "2024-03-05"),
        (110, 2, "Jonas", "2024-03-02", None),
        (111, 3, "Mira", "2024-03-04", None),
        (112, 5, "Ines", "2024-03-09", "2024-03-30"),
    ),
)

TASKS = (
    question(
        "library/recent-novels",
        BOOKS,
        skills="select where_multiple_conditions order_by_single_column",
        ask="""List the title and the number of pages of every novel published in 2004 or
            later, the longest first.""",
        sql="""SELECT title, pages FROM books WHERE genre = 'novel' AND published >= 2004
            ORDER BY pages DESC""",
        answer=(("The Clockmaker", 421), ("The Glass Orchard", 355), ("Letters to Ada", 198)),
    ),
    question(
        "library/still-out",
        BOOKS,
        LOANS,
        skills="select table_alias where_single_condition order_by_single_column",
        ask="""Which books are still out? A loan is still out while it has no return date.
            For each such loan give the reader and the title of the book, ordered by the day it
            was lent, the earliest first.""",
        sql="""SELECT l.reader, b.title FROM loans AS l JOIN books AS b ON b.book_id = l.book_id
            WHERE l.returned_on IS NULL ORDER BY l.lent_on""",
        answer=(
            ("Jonas", "The Clockmaker"),
            ("Omar", "The Glass Orchard"),
            ("Tess", "The Long Walk Home"),
            ("Jonas", "Harbour Lights"),
            ("Mira", "A Field Guide to Moss"),
        ),
    ),
    question(
        "library/busy-readers",
        LOANS,
        skills="""select column_alias group_by_single_column
            having_single_condition_with_aggregate order_by_single_column""",
        ask="""Which readers have borrowed at least three times, whether or not the book is back?
            Give the reader and the number of loans (call it loan_count), ordered by the reader's
            name from A to Z.""",
        sql="""SELECT reader, COUNT(*) AS loan_count FROM loans GROUP BY reader
            HAVING COUNT(*) >= 3 ORDER BY reader""",
        answer=(("Jonas", 3), ("Mira", 3), ("Tess", 3)),
    ),
    question(
        "library/longest-books",
        BOOKS,
        skills="select order_by_single_column limit_only",
        ask="""Which two books of the library have the most pages? Give their titles, the longest
            book first.""",
        sql="SELECT title FROM books ORDER BY pages DESC LIMIT 2",
        answer=(("The Clockmaker",), ("The Long Walk Home",)),
    ),
    change(
        "library/new-book",
        BOOKS,
        skills="insert",
        ask="""Add a book to the books table: number 13, "Tides", a nature book of 2022 with 256
            pages, of which the library has 2 copies.""",
        sql="""INSERT INTO books (book_id, title, genre, published, pages, copies)
            VALUES (13, 'Tides', 'nature', 2022, 256, 2)""",
    ),
    change(
        "library/book-returned",
        LOANS,
        skills="update where_multiple_conditions",
        ask="""Omar brought the book with number 8 back on 12 March 2024. Set the return date of
            his loan of that book.""",
        sql="""UPDATE loans SET returned_on = '2024-03-12'
            WHERE reader = 'Omar' AND book_id = 8""",
    ),
    change(
        "library/never-lent",
        BOOKS,
        LOANS,
        skills="delete select subquery_single where_multiple_conditions",
        ask="""Remove from the books table every book that was published before 2016 and does not
            occur in the loans table at all.""",
        sql="""DELETE FROM books WHERE published < 2016
            AND book_id NOT IN (SELECT book_id FROM loans)""",
    ),
)
