"""Builtin."""
TASKS = ()
