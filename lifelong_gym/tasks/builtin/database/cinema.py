"""A cinema: its films, its halls, and the screenings of a weekend."""

from __future__ import annotations

from lifelong_gym.tasks.builtin.database.form import change, question, table

FILMS = table(
    "films",
    {
        "film_id": "INT NOT NULL PRIMARY KEY",
        "title": "VARCHAR(40) NOT NULL",
        "language": "VARCHAR(12) NOT NULL",
        "minutes": "INT NOT NULL",
    },
    (
        (1, "Paper Moons", "English", 104),
        (2, "La Derniere Vague", "French", 96),
        (3, "Iron Valley", "English", 131),
        (4, "Kirschbluete", "German", 88),
        (5, "Midnight Ferry", "English", 117),
        (6, "Le Jardin", "French", 109),
        (7, "Stille Wasser", "German", 122),
        (8, "Two Bridges", "English", 92),
    ),
)

HALLS = table(
    "halls",
    {"hall": "VARCHAR(10) NOT NULL PRIMARY KEY", "seats": "INT NOT NULL"},
    (("Astra", 180), ("Luna", 120), ("Studio", 48)),
)

SCREENINGS = table(
    "screenings",
    {
        "screening_id": "INT NOT NULL PRIMARY KEY",
        "film_id": "INT NOT NULL",
        "hall": "VARCHAR(10) NOT NULL",
        "starts_at": "DATETIME NOT NULL",
        "sold": "INT NOT NULL",
        "price": "DECIMAL(5,2) NOT NULL",
    },
    (
        (1, 1, "Astra", "2024-09-13 17:00:00", 96, 9.50),
        (2, 3, "Astra", "2024-09-13 20:15:00", 171, 12.00),
        (3, 2, "Luna", "2024-09-13 18:30:00", 54, 9.50),
        (4, 4, "Studio", "2024-09-13 19:00:00", 31, 8.00),
        (5, 5, "Luna", "2024-09-13 21:00:00", 88, 11.00),
        (6, 1, "Luna", "2024-09-14 15:00:00", 73, 8.00),
        (7, 3, "Astra", "2024-09-14 20:15:00", 180, 12.00),
        (8, 6, "Studio", "2024-09-14 18:00:00", 40, 8.50),
        (9, 2, "Studio", "2024-09-14 20:30:00", 48, 8.50),
        (10, 5, "Luna", "2024-09-14 21:00:00", 117, 11.00),
        (11, 1, "Astra", "2024-09-15 14:00:00", 120, 8.00),
        (12, 4, "Studio", "2024-09-15 16:30:00", 22, 8.00),
        (13, 6, "Studio", "2024-09-15 19:00:00", 35, 8.50),
        (14, 7, "Luna", "2024-09-15 18:00:00", 29, 9.50),
        (15, 3, "Luna", "2024-09-15 20:30:00", 102, 11.00),
        (16, 2, "Luna", "2024-09-15 21:15:00", 45, 9.50),
    ),
)

TASKS = (
    question(
        "cinema/films-in-large-halls",
        FILMS,
        HALLS,
        SCREENINGS,
        skills="select where_single_condition subquery_nested order_by_single_column",
        ask="""Which films are screened at least once in a hall with more than 100 seats? Give their
            titles, each once, ordered from A to Z.""",
        sql="""SELECT title FROM films WHERE film_id IN (SELECT film_id FROM screenings
            WHERE hall IN (SELECT hall FROM halls WHERE seats > 100)) ORDER BY title""",
        answer=(
            ("Iron Valley",),
            ("La Derniere Vague",),
            ("Midnight Ferry",),
            ("Paper Moons",),
            ("Stille Wasser",),
        ),
    ),
    question(
        "cinema/crowds",
        FILMS,
        SCREENINGS,
        skills="""select table_alias column_alias group_by_multiple_columns
            having_multiple_conditions_with_aggregate
            order_by_multiple_columns_different_directions""",
        ask="""For every film and hall with at least two screenings and more than 80 tickets sold in
            all, give the title, the hall and the tickets sold (call it tickets), ordered by hall
            from A to Z and within a hall by tickets, the most first.""",
        sql="""SELECT f.title, s.hall, SUM(s.sold) AS tickets FROM screenings AS s
            JOIN films AS f ON f.film_id = s.film_id GROUP BY f.title, s.hall
            HAVING COUNT(*) >= 2 AND SUM(s.sold) > 80 ORDER BY s.hall ASC, tickets DESC""",
        answer=(
            ("Iron Valley", "Astra", 351),
            ("Paper Moons", "Astra", 216),
            ("Midnight Ferry", "Luna", 205),
            ("La Derniere Vague", "Luna", 99),
        ),
    ),
    question(
        "cinema/middle-of-the-chart",
        FILMS,
        SCREENINGS,
        skills="""select table_alias column_alias group_by_multiple_columns
            order_by_multiple_columns_different_directions limit_and_offset""",
        ask="""Rank the films that were screened by income, which is sold times price added up over
            their screenings, the largest first; equal incomes go by title from A to Z. Give the
            title and the income (call it income) of the ranks 3 to 5.""",
        sql="""SELECT f.title, SUM(s.sold * s.price) AS income FROM films AS f
            JOIN screenings AS s ON s.film_id = f.film_id GROUP BY f.film_id, f.title
            ORDER BY income DESC, f.title ASC LIMIT 3 OFFSET 2""",
        answer=(("Midnight Ferry", 2255.0), ("La Derniere Vague", 1348.5), ("Le Jardin", 637.5)),
    ),
    change(
        "cinema/two-more-screenings",
        SCREENINGS,
        skills="insert",
        ask="""Film 8 gets two screenings in the hall Studio on 16 September 2024: number 17 at
            18:00 for 8.00 and number 18 at 20:00 for 8.50. No ticket has been sold yet (sold is
            0). Add both to the screenings table.""",
        sql="""INSERT INTO screenings (screening_id, film_id, hall, starts_at, sold, price) VALUES
            (17, 8, 'Studio', '2024-09-16 18:00:00', 0, 8.00),
            (18, 8, 'Studio', '2024-09-16 20:00:00', 0, 8.50)""",
    ),
    change(
        "cinema/no-french-on-sunday",
        FILMS,
        SCREENINGS,
        skills="delete select subquery_single where_multiple_conditions",
        ask="""The French films are not shown on 15 September 2024 after all. Delete their
            screenings that start on or after that day.""",
        sql="""DELETE FROM screenings WHERE starts_at >= '2024-09-15'
            AND film_id IN (SELECT film_id FROM films WHERE language = 'French')""",
    ),
)
