"""Weather stations: a week of daily readings, some without a rain gauge."""

from __future__ import annotations

from lifelong_gym.tasks.builtin.database.form import change, question, table

READINGS = table(
    "readings",
    {
        "reading_id": "INT NOT NULL PRIMARY KEY",
        "station": "VARCHAR(20) NOT NULL",
        "measured_on": "DATE NOT NULL",
        "high_c": "DECIMAL(4,1) NOT NULL",
        "low_c": "DECIMAL(4,1) NOT NULL",
        "rain_mm": "DECIMAL(5,1)",
        "note": "TEXT",
    },
    (
        (1, "Airport", "2024-07-01", 27.4, 15.2, 0.0, None),
        (2, "Airport", "2024-07-02", 29.8, 16.9, 0.0, None),
        (3, "Airport", "2024-07-03", 24.1, 14.0, 12.6, "thunder"),
        (4, "Airport", "2024-07-04", 22.5, 12.8, 3.4, None),
        (5, "Harbour", "2024-07-01", 23.9, 17.1, 0.0, "fog until noon"),
        (6, "Harbour", "2024-07-02", 25.2, 18.0, None, "gauge blocked"),
        (7, "Harbour", "2024-07-03", 21.7, 16.3, None, "gauge blocked"),
        (8, "Harbour", "2024-07-04", 20.9, 15.5, 5.1, None),
        (9, "Hill", "2024-07-01", 22.3, 9.8, 0.2, None),
        (10, "Hill", "2024-07-02", 26.0, 11.4, 0.0, None),
        (11, "Hill", "2024-07-03", 18.6, 8.1, 21.3, "hail"),
        (12, "Hill", "2024-07-04", 17.2, 5.9, None, None),
        (13, "Valley", "2024-07-01", 28.8, 8.7, 0.0, None),
        (14, "Valley", "2024-07-02", 31.5, 10.6, 0.0, None),
        (15, "Valley", "2024-07-03", 23.4, 11.9, 8.8, None),
        (16, "Valley", "2024-07-04", 24.1, 7.5, 1.7, "ground fog"),
    ),
)

TASKS = (
    question(
        "weather/wide-range",
        READINGS,
        skills="""select column_alias group_by_single_column having_aggregate_calculation
            having_single_condition_with_aggregate""",
        ask="""At which stations do the highest value of high_c and the lowest value of low_c lie
            more than 20 degrees apart? Give the station and the difference (call it
            temperature_range), in any order.""",
        sql="""SELECT station, MAX(high_c) - MIN(low_c) AS temperature_range FROM readings
            GROUP BY station HAVING MAX(high_c) - MIN(low_c) > 20""",
        answer=(("Hill", 20.1), ("Valley", 24.0)),
    ),
    question(
        "weather/warm-days",
        READINGS,
        skills="""select where_single_condition subquery_single
            order_by_multiple_columns_same_direction""",
        ask="""Which readings have a high_c above the average high_c of all readings? Give
            measured_on, station and high_c, the latest day first; within a day order by high_c,
            the warmest first.""",
        sql="""SELECT measured_on, station, high_c FROM readings
            WHERE high_c > (SELECT AVG(high_c) FROM readings)
            ORDER BY measured_on DESC, high_c DESC""",
        answer=(
            ("2024-07-02", "Valley", 31.5),
            ("2024-07-02", "Airport", 29.8),
            ("2024-07-02", "Hill", 26.0),
            ("2024-07-02", "Harbour", 25.2),
            ("2024-07-01", "Valley", 28.8),
            ("2024-07-01", "Airport", 27.4),
        ),
    ),
    question(
        "weather/missing-rain",
        READINGS,
        skills="""select column_alias group_by_single_column
            having_single_condition_with_aggregate order_by_single_column""",
        ask="""Which stations have readings without a rain value (rain_mm is NULL)? Give the
            station, the number of its readings (call it days) and the number of its readings that
            do have a rain value (call it days_with_rain_value), ordered by station from A to
            Z.""",
        sql="""SELECT station, COUNT(*) AS days, COUNT(rain_mm) AS days_with_rain_value
            FROM readings GROUP BY station HAVING COUNT(*) > COUNT(rain_mm) ORDER BY station""",
        answer=(("Harbour", 4, 2), ("Hill", 4, 3)),
    ),
    question(
        "weather/extremes",
        READINGS,
        skills="select where_multiple_conditions subquery_multiple order_by_single_column",
        ask="""Find the reading with the highest high_c and the reading with the lowest low_c of
            all. Give station, measured_on, high_c and low_c of both, the one with the higher
            high_c first.""",
        sql="""SELECT station, measured_on, high_c, low_c FROM readings
            WHERE high_c = (SELECT MAX(high_c) FROM readings)
            OR low_c = (SELECT MIN(low_c) FROM readings) ORDER BY high_c DESC""",
        answer=(("Valley", "2024-07-02", 31.5, 10.6), ("Hill", "2024-07-04", 17.2, 5.9)),
    ),
    change(
        "weather/drop-blocked-gauge",
        READINGS,
        skills="delete where_multiple_conditions",
        ask="""Delete the readings of the station Harbour that have no rain value (rain_mm is
            NULL).""",
        sql="DELETE FROM readings WHERE station = 'Harbour' AND rain_mm IS NULL",
    ),
    change(
        "weather/flag-storms",
        READINGS,
        skills="update where_single_condition",
        ask="""Set the note to "storm" for every reading with more than 8 mm of rain, whatever the
            note says now.""",
        sql="UPDATE readings SET note = 'storm' WHERE rain_mm > 8",
    ),
)
