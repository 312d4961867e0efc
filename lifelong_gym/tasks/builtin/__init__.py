"""The tasks that come with the package, written for it, one package a domain."""
