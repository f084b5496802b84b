"""What every notebook does first."""

import matplotlib as mpl
import nbformat
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from book._ext.local_kernels import AsyncLocalKernelManager
from chapters.kit.parameters import CHANGED, Declaration, Seed, Width
from chapters.kit.start import ParameterError, checked_parameters, start


class Parameters(Declaration):
    channels: Width = 4
    seed: Seed = 0
    rate: float = 1.0


@pytest.fixture(autouse=True)
def style_put_back():
    with mpl.rc_context():
        yield


@pytest.fixture
def pools():
    """The number of threads of every pool, put back afterwards."""
    with threadpool_limits(2):
        yield lambda: [pool["num_threads"] for pool in threadpool_info()]


def test_one_thread_unless_more_are_asked_for(pools, monkeypatch):
    if not pools() or max(pools()) < 2:
        pytest.skip("no pool of threads that could be capped")
    monkeypatch.delenv("CAPCORE_THREADS", raising=False)
    start({"channels": 4}, Parameters, threads=2)
    assert max(pools()) == 2
    start({"channels": 4}, Parameters)
    assert max(pools()) == 1
    monkeypatch.setenv("CAPCORE_THREADS", "2")
    start({"channels": 4}, Parameters)
    assert max(pools()) == 2


def test_what_is_not_a_parameter_is_refused_with_the_nearest_name():
    with pytest.raises(
        ParameterError, match=r"chanels: not a parameter.*Expected channels, seed, rate.*mean 'channels'"
    ):
        start({"channels": 4, "chanels": 2}, Parameters)


def test_modules_classes_functions_and_private_names_are_none():
    start({"pytest": pytest, "len": len, "int": int, "_": 3, "In": [], "channels": 4}, Parameters)


def test_parameters_become_what_their_types_say_and_changes_are_noted():
    namespace = {"channels": 4, "rate": 2}
    start(namespace, Parameters)
    assert (namespace["rate"], type(namespace["rate"]), namespace["seed"], CHANGED) == (2.0, float, 0, ["rate"])
    start({"rate": 1}, Parameters)
    assert CHANGED == []


def test_a_size_beyond_the_memory_is_one_line():
    with pytest.raises(ParameterError, match="channels: found 1000000, which takes about 64 TB") as caught:
        start({"channels": 10**6}, Parameters)
    assert "\n" not in str(caught.value) and caught.value.__cause__ is None


@pytest.mark.parametrize("error", [ValueError, TypeError])
def test_a_wrong_parameter_is_one_line(error):
    with pytest.raises(ParameterError, match="n_layers: found 0") as caught, checked_parameters():
        raise error("n_layers: found 0")
    assert caught.value._render_traceback_() == ["ParameterError: n_layers: found 0"]


@pytest.mark.ci
@pytest.mark.parametrize(
    ("setting", "shown"),
    [
        ("off", ["text/plain"]),
        ("on", ["image/png", "text/plain"]),
        ("book", ["image/png", "image/svg+xml", "text/plain"]),
    ],
)
def test_a_figure_without_a_caption_is_rendered_as_the_environment_says(monkeypatch, setting, shown):
    client = pytest.importorskip("nbclient")
    monkeypatch.setenv("CAPCORE_FIGURES", setting)
    sources = [
        "import matplotlib.pyplot as plt\nfrom chapters.kit.start import start",
        "start(globals())",
        "fig, ax = plt.subplots()\n_ = ax.plot([1, 2])",
        "plt.get_fignums()",
    ]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    notebook = nbformat.v4.new_notebook(cells=cells)
    client.NotebookClient(notebook, kernel_name="python3", kernel_manager_class=AsyncLocalKernelManager).execute()
    (figure,), (left_open,) = (cell.outputs for cell in notebook.cells[2:])
    assert sorted(figure.data) == shown
    assert ("narrow" in figure.metadata.get("capcore", {})) == (setting == "book"), "another picture for a phone"
    assert left_open.data["text/plain"] == "[]"
