"""The command line of the package: what parses arguments, prints, and lays out tables for a terminal.

Each command is a module with ``main(argv, prog) -> int``; ``capcore.commands.cli`` finds it by name.
"""
