"""A veterinary clinic: the owners of the animals, and their visits."""

from __future__ import annotations

from lifelong_gym.tasks.builtin.database.form import change, question, table

OWNERS = table(
    "owners",
    {
        "owner_id": "INT NOT NULL PRIMARY KEY",
        "name": "VARCHAR(40) NOT NULL",
        "has_plan": "BOOLEAN NOT NULL",
    },
    (
        (1, "Lena Fischer", True),
        (2, "Marco Ricci", False),
        (3, "Nora Quist", True),
        (4, "Owen Price", False),
        (5, "Pia Varga", True),
        (6, "Ravi Menon", False),
        (7, "Sofia Costa", False),
        (8, "Tom Becker", True),
    ),
)

VISITS = table(
    "visits",
    {
        "visit_id": "INT NOT NULL PRIMARY KEY",
        "owner_id": "INT NOT NULL",
        "animal": "VARCHAR(20) NOT NULL",
        "species": "VARCHAR(10) NOT NULL",
        "vet": "VARCHAR(20) NOT NULL",
        "visited_at": "DATETIME NOT NULL",
        "weight_kg": "DECIMAL(5,2)",
        "fee": "DECIMAL(7,2) NOT NULL",
        "is_paid": "BOOLEAN NOT NULL",
    },
    (
        (1, 1, "Biscuit", "dog", "Osei", "2024-04-29 09:00:00", 24.30, 85.00, True),
        (2, 2, "Nero", "cat", "Osei", "2024-05-02 10:30:00", 4.15, 52.50, True),
        (3, 3, "Pepper", "rabbit", "Lang", "2024-05-03 14:00:00", 1.90, 40.00, False),
        (4, 4, "Duke", "dog", "Lang", "2024-05-06 08:45:00", 31.75, 120.00, False),
        (5, 5, "Mimi", "cat", "Osei", "2024-05-08 11:15:00", 5.60, 61.00, False),
        (6, 6, "Bolt", "dog", "Singh", "2024-05-13 16:20:00", 12.40, 70.00, True),
        (7, 7, "Cleo", "cat", "Singh", "2024-05-14 09:40:00", None, 35.00, False),
        (8, 1, "Biscuit", "dog", "Osei", "2024-05-20 09:10:00", 24.85, 45.00, False),
        (9, 8, "Oreo", "rabbit", "Lang", "2024-05-23 13:30:00", 2.35, 55.00, True),
        (10, 4, "Duke", "dog", "Lang", "2024-05-28 15:05:00", 31.10, 90.00, True),
        (11, 2, "Nero", "cat", "Lang", "2024-06-03 10:00:00", 4.40, 48.00, False),
        (12, 5, "Tiger", "cat", "Singh", "2024-06-05 17:25:00", 6.05, 66.00, True),
        (13, 3, "Pepper", "rabbit", "Osei", "2024-06-10 12:00:00", 1.95, 38.50, True),
    ),
)

TASKS = (
    question(
        "clinic/unpaid-by-species-and-vet",
        VISITS,
        skills="""select column_alias where_single_condition group_by_multiple_columns
            order_by_multiple_columns_same_direction""",
        ask="""For the visits that are not paid, add up the fees by species and vet. Give species,
            vet and the sum (call it owed), ordered by species from A to Z and then by vet from
            A to Z.""",
        sql="""SELECT species, vet, SUM(fee) AS owed FROM visits WHERE is_paid = FALSE
            GROUP BY species, vet ORDER BY species, vet""",
        answer=(
            ("cat", "Lang", 48.0),
            ("cat", "Osei", 61.0),
            ("cat", "Singh", 35.0),
            ("dog", "Lang", 120.0),
            ("dog", "Osei", 45.0),
            ("rabbit", "Lang", 40.0),
        ),
    ),
    question(
        "clinic/visits-in-may",
        VISITS,
        skills="select where_nested_conditions order_by_single_column",
        ask="""Which visits of May 2024 were of a dog heavier than 20 kg, or are not paid (or both)?
            Give visit_id and animal, ordered by visit_id, the smallest first.""",
        sql="""SELECT visit_id, animal FROM visits
            WHERE visited_at >= '2024-05-01' AND visited_at < '2024-06-01'
            AND ((species = 'dog' AND weight_kg > 20) OR is_paid = FALSE) ORDER BY visit_id""",
        answer=((3, "Pepper"), (4, "Duke"), (5, "Mimi"), (7, "Cleo"), (8, "Biscuit"), (10, "Duke")),
    ),
    question(
        "clinic/heaviest-cats",
        VISITS,
        skills="select where_multiple_conditions order_by_single_column limit_only",
        ask="""Leave out visits at which no weight was taken. Of the remaining visits of cats, take
            the three with the greatest weight and give animal, weight_kg and the time of the visit
            (visited_at), the heaviest first.""",
        sql="""SELECT animal, weight_kg, visited_at FROM visits WHERE species = 'cat'
            AND weight_kg IS NOT NULL ORDER BY weight_kg DESC LIMIT 3""",
        answer=(
            ("Tiger", 6.05, "2024-06-05 17:25:00"),
            ("Mimi", 5.6, "2024-05-08 11:15:00"),
            ("Nero", 4.4, "2024-06-03 10:00:00"),
        ),
    ),
    question(
        "clinic/fees-by-vet",
        VISITS,
        skills="""select column_alias group_by_single_column having_aggregate_calculation
            having_multiple_conditions_with_aggregate order_by_single_column""",
        ask="""For each vet with at least four visits whose fees come to more than 55 a visit on
            average, give the vet, the number of visits (call it visit_count) and the sum of the
            fees (call it income), the largest income first.""",
        sql="""SELECT vet, COUNT(*) AS visit_count, SUM(fee) AS income FROM visits GROUP BY vet
            HAVING COUNT(*) >= 4 AND SUM(fee) / COUNT(*) > 55 ORDER BY income DESC""",
        answer=(("Lang", 5, 353.0), ("Osei", 5, 282.0)),
    ),
    change(
        "clinic/record-a-visit",
        VISITS,
        skills="insert",
        ask="""Record a visit in the visits table: number 14, owner 7, the cat Cleo, seen by the vet
            Singh on 11 June 2024 at 08:30. No weight was taken (leave it NULL). The fee of 42.50
            is not paid yet.""",
        sql="""INSERT INTO visits (visit_id, owner_id, animal, species, vet, visited_at, weight_kg,
            fee, is_paid) VALUES (14, 7, 'Cleo', 'cat', 'Singh', '2024-06-11 08:30:00', NULL,
            42.50, FALSE)""",
    ),
    change(
        "clinic/plan-pays",
        OWNERS,
        VISITS,
        skills="update select subquery_single where_multiple_conditions",
        ask="""The health plan pays for its owners. Mark as paid every visit that is not paid and
            whose owner has a plan (has_plan is true).""",
        sql="""UPDATE visits SET is_paid = TRUE WHERE is_paid = FALSE
            AND owner_id IN (SELECT owner_id FROM owners WHERE has_plan = TRUE)""",
    ),
)
