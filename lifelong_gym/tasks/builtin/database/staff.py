"""The staff of a small firm: teams, salaries, managers, and who has left."""

from __future__ import annotations

from lifelong_gym.tasks.builtin.database.form import change, question, table

EMPLOYEES = table(
    "employees",
    {
        "employee_id": "INT NOT NULL PRIMARY KEY",
        "name": "VARCHAR(40) NOT NULL",
        "team": "VARCHAR(20) NOT NULL",
        "salary": "DECIMAL(9,2) NOT NULL",
        "hired": "DATE NOT NULL",
        "left_on": "DATE",
        "manager_id": "INT",
    },
    (
        (1, "Nadia Flores", "Design", 6100.00, "2015-03-01", None, None),
        (2, "Oskar Brandt", "Design", 4350.50, "2018-07-15", None, 1),
        (3, "Petra Wolf", "Design", 3980.00, "2021-10-04", None, 1),
        (4, "Quinn Adeyemi", "Engineering", 7200.00, "2014-01-13", None, None),
        (5, "Rosa Lindqvist", "Engineering", 5875.25, "2017-05-22", None, 4),
        (6, "Samir Haddad", "Engineering", 5420.00, "2020-02-03", "2023-06-30", 4),
        (7, "Tilda Moreau", "Engineering", 4990.00, "2022-09-12", None, 5),
        (8, "Uwe Petersen", "Support", 3150.00, "2016-11-07", "2021-12-31", 10),
        (9, "Vera Kowal", "Support", 2890.75, "2021-04-19", "2022-08-15", 10),
        (10, "Wim de Boer", "Support", 3720.00, "2013-08-26", None, None),
        (11, "Xenia Popova", "Support", 2950.00, "2023-01-09", None, 10),
        (12, "Yann Le Goff", "Sales", 4100.00, "2019-06-17", "2021-03-31", 13),
        (13, "Zoe Carter", "Sales", 5650.00, "2016-04-04", None, None),
        (14, "Amir Rahimi", "Sales", 4425.00, "2020-12-01", None, 13),
    ),
)

TASKS = (
    question(
        "staff/well-paid-teams",
        EMPLOYEES,
        skills="""select where_single_condition subquery_nested
            order_by_multiple_columns_same_direction""",
        ask="""Take the teams whose average salary is above the average salary of all rows of the
            employees table; people who have left count too. List team, name and salary of all
            people in those teams, ordered by team from A to Z and within a team by name from
            A to Z.""",
        sql="""SELECT team, name, salary FROM employees WHERE team IN (SELECT team FROM employees
            GROUP BY team HAVING AVG(salary) > (SELECT AVG(salary) FROM employees))
            ORDER BY team, name""",
        answer=(
            ("Design", "Nadia Flores", 6100.0),
            ("Design", "Oskar Brandt", 4350.5),
            ("Design", "Petra Wolf", 3980.0),
            ("Engineering", "Quinn Adeyemi", 7200.0),
            ("Engineering", "Rosa Lindqvist", 5875.25),
            ("Engineering", "Samir Haddad", 5420.0),
            ("Engineering", "Tilda Moreau", 4990.0),
            ("Sales", "Amir Rahimi", 4425.0),
            ("Sales", "Yann Le Goff", 4100.0),
            ("Sales", "Zoe Carter", 5650.0),
        ),
    ),
    question(
        "staff/pay-gap",
        EMPLOYEES,
        skills="""select column_alias group_by_single_column having_aggregate_calculation
            having_single_condition_with_aggregate order_by_single_column""",
        ask="""In which teams is the highest salary more than 2000 above the lowest? Count people
            who have left as well. Give the team and the difference (call it pay_gap), the largest
            difference first.""",
        sql="""SELECT team, MAX(salary) - MIN(salary) AS pay_gap FROM employees GROUP BY team
            HAVING MAX(salary) - MIN(salary) > 2000 ORDER BY pay_gap DESC""",
        answer=(("Engineering", 2210.0), ("Design", 2120.0)),
    ),
    question(
        "staff/who-manages-whom",
        EMPLOYEES,
        skills="""select table_alias column_alias where_single_condition
            order_by_single_column""",
        ask="""For every employee hired on or after 1 January 2020 give the employee's name (call it
            employee) and the name of the manager (call it manager), ordered by the employee's name
            from A to Z. Include people who have left.""",
        sql="""SELECT e.name AS employee, m.name AS manager FROM employees AS e
            JOIN employees AS m ON m.employee_id = e.manager_id WHERE e.hired >= '2020-01-01'
            ORDER BY employee""",
        answer=(
            ("Amir Rahimi", "Zoe Carter"),
            ("Petra Wolf", "Nadia Flores"),
            ("Samir Haddad", "Quinn Adeyemi"),
            ("Tilda Moreau", "Rosa Lindqvist"),
            ("Vera Kowal", "Wim de Boer"),
            ("Xenia Popova", "Wim de Boer"),
        ),
    ),
    question(
        "staff/third-to-fifth-salary",
        EMPLOYEES,
        skills="select where_single_condition order_by_single_column limit_and_offset",
        ask="""Among the people who have not left (left_on is empty), who earn the third, fourth and
            fifth highest salaries? Give name and salary, the highest first.""",
        sql="""SELECT name, salary FROM employees WHERE left_on IS NULL ORDER BY salary DESC
            LIMIT 3 OFFSET 2""",
        answer=(("Rosa Lindqvist", 5875.25), ("Zoe Carter", 5650.0), ("Tilda Moreau", 4990.0)),
    ),
    change(
        "staff/raise-for-design",
        EMPLOYEES,
        skills="update where_multiple_conditions",
        ask="""Raise by 250 the salary of everybody in the team Design who was hired before
            1 January 2020.""",
        sql="""UPDATE employees SET salary = salary + 250 WHERE team = 'Design'
            AND hired < '2020-01-01'""",
    ),
    change(
        "staff/forget-the-gone",
        EMPLOYEES,
        skills="delete where_nested_conditions",
        ask="""Delete the records of the people who have left and who either left before
            1 January 2022 or were in the team Support.""",
        sql="""DELETE FROM employees WHERE left_on IS NOT NULL
            AND (left_on < '2022-01-01' OR team = 'Support')""",
    ),
)
