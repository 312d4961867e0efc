"""The process that keeps bubblewrap sandboxes and runs commands in them.

It is a program of its own, started fresh with an empty environment, so that it holds no
memory, variable or descriptor of the trainer or evaluator that asks for sandboxes. It
imports the standard library only, by relative names: importing `lifelong_gym` would load
Gymnasium. `serve.py` is where it begins.

A command is run by forking this process and entering the sandbox's namespaces, the user
namespace with the others: from then on the fork holds rights in the sandbox only.
"""
