"""The real systems beneath the environments: a contract each, one driver a module."""
