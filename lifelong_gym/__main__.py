"""`python -m lifelong_gym` is `lifelong-gym`."""

from __future__ import annotations

from lifelong_gym.cli import main

if __name__ == "__main__":
    main()
