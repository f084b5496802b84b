"""The command line of the package: parsing arguments, printing results, and laying out tables for a terminal.

Each command is a module with ``main(argv, prog) -> int``, which ``capcore.commands.cli`` imports by name.

The parser is argparse's, because click, typer and rich were measured and would save no lines: each of the 39 options
needs a line in any of them, and click lacks the option groups of our help. The help of ``capcore spectra`` takes 0.05
seconds with this parser alone, 0.07 with click, 0.11 with typer and 0.25 with typer and rich (fastest of forty starts).
A table of rich squeezes all columns into the width; ours drops the least important ones and names them. It also reads
brackets in layer names as markup, passes escape sequences on, and writes no CSV.
"""
