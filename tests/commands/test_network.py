"""``capcore network``: the report of a file of weights, and nothing imported that was not named."""

import os
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import capcore as cc
from capcore.commands.network import main, nested, network
from tests.checkpoints.crafted import packed

CODE = '''
"""A network of JAX, one of the same name that takes nothing, and what is wrong."""

import jax.numpy as jnp


def apply(params, x):
    return jnp.tanh(x @ params["layers"][0]["w"]) @ params["out"]


def failing(params, x):
    raise KeyError("no such layer")


def nothing():
    return 3


class Wide:
    def __init__(self, width, depth):
        pass


constant = 3
'''


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with code, and another with weights and data; the modules of this test are forgotten afterwards."""
    rng = np.random.default_rng(0)
    (tmp_path / "code").mkdir()
    (tmp_path / "here").mkdir()
    (tmp_path / "code" / "own_networks.py").write_text(CODE)
    arrays = {"layers.0.w": rng.normal(size=(3, 4)) / 2, "out": rng.normal(size=(4, 2)) / 2}
    np.savez(tmp_path / "here" / "params.npz", **arrays)
    single = {name: values.astype(np.float32) for name, values in arrays.items()}
    (tmp_path / "here" / "params.safetensors").write_bytes(packed(single))
    x, y = rng.normal(size=(30, 3)), rng.normal(size=(30, 2))
    np.savez(tmp_path / "here" / "data.npz", inputs=x, targets=y)
    np.savez(tmp_path / "here" / "labels.npz", inputs=x, targets=(y[:, 0] > 0).astype(int))
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "own_networks", raising=False)
    yield tmp_path
    sys.modules.pop("own_networks", None)


def run(*arguments, path="../code", place="own_networks:apply", model="params.npz", data="data.npz"):
    more = [] if path is None else ["--path", path]
    return main([model, data, "--module", place, *more, *map(str, arguments)])


def expected(files, **options):
    code = {}
    exec(CODE, code)
    params = nested(dict(np.load("params.npz")))
    data = np.load("data.npz")
    return cc.allocate_network(code["apply"], params, data["inputs"], data["targets"], **options)


def test_it_prints_the_report(files, capsys):
    assert run("--weight-decay", 0.5) == 0
    said = capsys.readouterr()
    assert said.out == expected(files, weight_decay=0.5).report() + "\n" and said.err == ""


@pytest.mark.parametrize(
    "options",
    [
        {"curvature": "full", "weight_decay": 0.5},
        {"method": "dual", "weight_decay": 0.5},
    ],
    ids=str,
)
def test_options_are_those_of_the_verb(options, files, capsys):
    given = [part for name, value in options.items() for part in ("--" + name.replace("_", "-"), value)]
    assert run(*given) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.CapacityWarning)
        assert capsys.readouterr().out == expected(files, **options).report() + "\n"


def test_weights_of_safetensors_and_labels(files, capsys):
    assert run("--weight-decay", 0.5, "--loss", "cross-entropy", model="params.safetensors", data="labels.npz") == 0
    assert capsys.readouterr().out.startswith("3.39 of 20 parameters count; report this number.")


def test_a_figure_is_drawn(files, capsys):
    pytest.importorskip("matplotlib")
    assert run("--weight-decay", 0.5, "--plot", "where.png") == 0
    assert (files / "here" / "where.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(each.suffix for each in (files / "here").iterdir()) == [".npz"] * 3 + [".png", ".safetensors"]


@pytest.mark.parametrize(
    ("arguments", "change", "words"),
    [
        ([], {"place": "own_networks"}, "--module: found 'own_networks', expected package.module:callable"),
        (
            [],
            {"place": "own_networks:absent"},
            "on importing it, from installed packages and what --path gives (AttributeError: ",
        ),
        ([], {"place": "own_networks:constant"}, "--module: found that own_networks:constant cannot be called"),
        ([], {"place": "own_networks:nothing"}, "gives int, expected a torch.nn.Module"),
        ([], {"place": "own_networks:Wide"}, "which takes other arguments"),
        ([], {"place": "own_networks:failing"}, "found an error of own_networks:failing on calling it"),
        ([], {"place": "broken:apply"}, "found an error of broken:apply on importing it"),
        ([], {"path": None}, "ModuleNotFoundError: No module named 'own_networks'"),
        ([], {"path": "absent"}, "--path: found no folder absent"),
        ([], {"model": "absent.npz"}, "absent.npz: found no such file"),
        ([], {"model": "data.pkl"}, "data.pkl"),
        ([], {"data": "params.npz"}, "params.npz: found the arrays layers.0.w, out, expected inputs and targets"),
        ([], {"data": "params.safetensors"}, "params.safetensors: found the arrays layers.0.w, out"),
        ([], {"data": "labels.npz"}, "DATA: targets: found shape"),
        ([], {"data": "pickled.npz"}, "pickled.npz"),
        (["--weight-decay", "-1"], {}, "--weight-decay: found -1"),
        (["--plot", "where.txt"], {}, "--plot: found where.txt"),
        (["--plot", "absent/where.png"], {}, "--plot: found no folder for absent"),
    ],
)
def test_what_cannot_be_used_gives_one_line(arguments, change, words, files, capsys):
    (files / "code" / "broken.py").write_text("import json\njson.absent\n")
    np.savez("pickled.npz", inputs=np.array([{}], dtype=object), targets=np.ones(1))
    (files / "here" / "data.pkl").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    arguments = ["--weight-decay", 0.5, *arguments] if "--weight-decay" not in arguments else arguments
    assert run(*arguments, **change) == 2
    said = capsys.readouterr()
    assert said.out == "" and words in said.err and "Traceback" not in said.err
    assert all(line.startswith("capcore network: ") for line in said.err.splitlines())


def test_traceback_shows_where(files):
    with pytest.raises(ValueError, match="on calling it") as raised:
        run("--weight-decay", 0.5, "--traceback", place="own_networks:failing")
    assert isinstance(raised.value.__cause__, KeyError)


def test_names_with_dots_are_nested():
    for names in ("a", "a.b"), ("a.b", "a"):
        with pytest.raises(ValueError, match="which is an array too"):
            nested(dict.fromkeys(names, 1))
    assert nested({"0": 1, "2": 3}) == {"0": 1, "2": 3}


def test_a_pytorch_module_is_loaded_from_its_state(files, capsys):
    torch = pytest.importorskip("torch")
    layers = "torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))"
    (files / "code" / "own_modules.py").write_text(f"import torch\n\n\ndef Net():\n    return {layers}\n")
    torch.manual_seed(1)
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    torch.save(module.state_dict(), "model.pt")
    assert run("--weight-decay", 0.5, place="own_modules:Net", model="model.pt") == 0
    data = np.load("data.npz")
    found = cc.allocate_network(*cc.networks.from_torch(module), data["inputs"], data["targets"], weight_decay=0.5)
    assert capsys.readouterr().out == found.report() + "\n"
    assert run("--weight-decay", 0.5, place="own_modules:Net") == 2
    assert "own_modules:Net on loading the weights of MODEL into it (RuntimeError: " in capsys.readouterr().err

    class Harm:
        def __reduce__(self):
            return os.mkdir, ("harm",)

    torch.save({"a": Harm()}, "harmful.pt")
    assert run("--weight-decay", 0.5, place="own_modules:Net", model="harmful.pt") == 2
    assert not os.path.exists("harm")


def test_code_is_recognised_by_how_it_can_be_called():
    tensors = {"w": SimpleNamespace(read=lambda: np.ones(3))}
    of_one_array = SimpleNamespace(format="npy", name="w.npy", tensors=tensors)
    apply, params = network(lambda params, inputs: inputs @ params, of_one_array, "here:apply")
    assert apply(params, np.eye(3)).tolist() == [1.0, 1.0, 1.0]
