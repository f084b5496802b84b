"""What a page's worker runs: blocks of code in one namespace, as a notebook would, with figures as SVG."""

import ast
import functools
import io
import json
import sys
import traceback

MARK = "\x1e"
PLACE = "<page>"
space = {"__name__": "__main__"}


def send(**event):
    """Tell the page what is not text."""
    sys.stdout.write(MARK + json.dumps(event) + MARK)
    sys.stdout.flush()


def run(code):
    """Run a block; its last expression is shown, errors are those of the package, in its words."""
    try:
        if "matplotlib" in code or ".plot(" in code:
            use_style()
        tree = ast.parse(code, PLACE)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, PLACE, "exec"), space)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), PLACE, "eval"), space)
            if value is not None:
                print(repr(value))
    except BaseException as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == PLACE]
        line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
        send(error={"name": type(error).__name__, "message": str(error), "line": line})
    finally:
        show_figures()
        sys.stdout.flush()
        sys.stderr.flush()


@functools.cache
def use_style():
    """Draw as the book does."""
    from capcore import plotting

    plotting.use_style()


def show_figures():
    """Send open figures to the page, and close them."""
    if "matplotlib.pyplot" in sys.modules:
        pyplot = sys.modules["matplotlib.pyplot"]
        for number in pyplot.get_fignums():
            drawing = io.StringIO()
            pyplot.figure(number).savefig(drawing, format="svg", bbox_inches="tight")
            send(picture=drawing.getvalue())
        pyplot.close("all")
