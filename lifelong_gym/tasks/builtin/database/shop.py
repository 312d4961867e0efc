"""A mail-order shop: customers, their orders, and a mailing list."""

from __future__ import annotations

from lifelong_gym.tasks.builtin.database.form import change, question, table

CUSTOMERS = table(
    "customers",
    {
        "customer_id": "INT NOT NULL PRIMARY KEY",
        "name": "VARCHAR(40) NOT NULL",
        "city": "VARCHAR(30) NOT NULL",
        "is_member": "BOOLEAN NOT NULL",
        "joined": "DATE NOT NULL",
    },
    (
        (1, "Alma Reyes", "Porto", True, "2019-05-02"),
        (2, "Bruno Keller", "Basel", False, "2023-08-17"),
        (3, "Carla Nunes", "Porto", False, "2022-11-30"),
        (4, "Dario Lund", "Malmo", True, "2020-02-14"),
        (5, "Elif Aydin", "Basel", True, "2021-06-09"),
        (6, "Frida Holm", "Malmo", False, "2022-01-20"),
        (7, "Goran Babic", "Split", True, "2018-10-01"),
        (8, "Hana Sato", "Porto", True, "2021-09-25"),
        (9, "Ivo Marin", "Split", True, "2024-01-11"),
    ),
)

ORDERS = table(
    "orders",
    {
        "order_id": "INT NOT NULL PRIMARY KEY",
        "customer_id": "INT NOT NULL",
        "ordered_at": "DATETIME NOT NULL",
        "status": "VARCHAR(12) NOT NULL",
        "total": "DECIMAL(8,2) NOT NULL",
    },
    (
        (501, 1, "2024-01-05 09:12:00", "paid", 84.50),
        (502, 3, "2024-01-09 17:40:00", "paid", 19.90),
        (503, 4, "2024-01-21 11:05:00", "paid", 240.00),
        (504, 7, "2024-02-02 20:31:00", "held", 61.25),
        (505, 1, "2024-02-06 08:55:00", "paid", 129.00),
        (506, 2, "2024-02-10 13:00:00", "open", 45.10),
        (507, 8, "2024-02-18 15:22:00", "paid", 310.75),
        (508, 5, "2024-02-27 10:10:00", "cancelled", 99.99),
        (509, 4, "2024-03-03 18:45:00", "open", 75.00),
        (510, 5, "2024-03-08 07:30:00", "paid", 213.50),
        (511, 6, "2024-03-11 12:12:00", "held", 33.30),
        (512, 7, "2024-03-15 16:20:00", "paid", 61.25),
        (513, 3, "2024-03-19 21:02:00", "paid", 193.60),
        (514, 8, "2024-03-22 09:00:00", "open", 129.00),
    ),
)

MAILING = table(
    "mailing_list",
    {"customer_id": "INT NOT NULL PRIMARY KEY", "name": "VARCHAR(40) NOT NULL"},
    ((2, "Bruno Keller"), (7, "Goran Babic")),
)

TASKS = (
    question(
        "shop/best-customers",
        CUSTOMERS,
        ORDERS,
        skills="""select table_alias column_alias where_single_condition
            group_by_multiple_columns order_by_multiple_columns_different_directions limit_only""",
        ask="""Who are the three customers who spent the most on orders with the status "paid"?
            Give their names and what they spent in all (call it spent), the largest sum first;
            customers with equal sums go by name from A to Z.""",
        sql="""SELECT c.name, SUM(o.total) AS spent FROM customers AS c
            JOIN orders AS o ON o.customer_id = c.customer_id WHERE o.status = 'paid'
            GROUP BY c.customer_id, c.name ORDER BY spent DESC, c.name ASC LIMIT 3""",
        answer=(("Hana Sato", 310.75), ("Dario Lund", 240.0), ("Alma Reyes", 213.5)),
    ),
    question(
        "shop/second-page",
        ORDERS,
        skills="select order_by_multiple_columns_different_directions limit_and_offset",
        ask="""The orders are listed by total, the largest first, and orders of equal total by
            order_id, the smallest first. A page shows four orders. Give the order_id and the
            total of the orders on the second page, in that order.""",
        sql="""SELECT order_id, total FROM orders ORDER BY total DESC, order_id ASC
            LIMIT 4 OFFSET 4""",
        answer=((505, 129.0), (514, 129.0), (508, 99.99), (501, 84.5)),
    ),
    question(
        "shop/large-orders-from-porto",
        CUSTOMERS,
        ORDERS,
        skills="select where_multiple_conditions subquery_multiple order_by_single_column",
        ask="""Which orders were placed by customers from Porto and have a total above the average
            total of all orders, whatever their status? Give order_id and total, ordered by
            order_id, the smallest first.""",
        sql="""SELECT order_id, total FROM orders WHERE total > (SELECT AVG(total) FROM orders)
            AND customer_id IN (SELECT customer_id FROM customers WHERE city = 'Porto')
            ORDER BY order_id""",
        answer=((505, 129.0), (507, 310.75), (513, 193.6), (514, 129.0)),
    ),
    question(
        "shop/old-cities",
        CUSTOMERS,
        skills="""select column_alias group_by_single_column
            having_multiple_conditions_with_aggregate""",
        ask="""For each city that has at least two customers, the first of whom joined before 2020,
            give the city and the number of its customers (call it customer_count), in any
            order.""",
        sql="""SELECT city, COUNT(*) AS customer_count FROM customers GROUP BY city
            HAVING COUNT(*) >= 2 AND MIN(joined) < '2020-01-01'""",
        answer=(("Porto", 3), ("Split", 2)),
    ),
    change(
        "shop/cancel-stale-orders",
        ORDERS,
        skills="update where_nested_conditions",
        ask="""Set the status to "cancelled" for all orders that were placed before 10 March 2024
            and whose status is "open" or "held".""",
        sql="""UPDATE orders SET status = 'cancelled'
            WHERE ordered_at < '2024-03-10' AND (status = 'open' OR status = 'held')""",
    ),
    change(
        "shop/invite-members",
        CUSTOMERS,
        MAILING,
        skills="insert select where_multiple_conditions",
        ask="""Add to the mailing_list every customer who is a member and joined in 2020 or later,
            with customer_id and name. None of them is on the list yet.""",
        sql="""INSERT INTO mailing_list (customer_id, name) SELECT customer_id, name
            FROM customers WHERE is_member = TRUE AND joined >= '2020-01-01'""",
    ),
)
