"""Saved results: the same to the last bit after loading, and nothing lost on the way."""

import dataclasses
import json
import os
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import capcore as cc
from capcore.checkpoints import headed
from capcore.results import left_out, saved
from capcore.results.left_out import LeftOut
from tests.saved.conftest import ARCH, TASK, same
from tests.strategies import all_of, hierarchical_models, seeds, stacks


def again(result, folder):
    result.save(folder / "result.npz")
    return cc.load(folder / "result.npz")


KINDS = ["fit by gauss-newton", "fit by riemannian-newton", "fit by octaves", "network", "sketched network", "spectra"]
KINDS += [f"allocation by {method}" for method in ("dense", "fft", "streamed", "octaves", "sketch")]
KINDS += ["spectra of huge weights"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_bit_comes_back(kind, results, tmp_path):
    result = results[kind]
    loaded = again(result, tmp_path)
    if "network" in kind:  # compared below, as far as it can be without its function
        names = {"problem", "_response", "_model", "_subspaces"}
        kept = [field.name for field in dataclasses.fields(result) if field.name not in names]
        assert all(same(getattr(result, name), getattr(loaded, name)) for name in kept)
    else:
        assert same(result, loaded)
    assert repr(loaded) == repr(result) and loaded._repr_html_() == result._repr_html_()


@pytest.mark.parametrize("kind", KINDS)
def test_equal_results_give_equal_files(kind, results, tmp_path):
    """So a loaded result can be saved again, and files can be compared by their hashes."""
    results[kind].save(tmp_path / "one")
    cc.load(tmp_path / "one").save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@settings(max_examples=25, deadline=None)
@given(hierarchical_models(max_layers=3), seeds)
def test_any_dense_allocation_comes_back(arch, seed):
    process = TASK if arch.input_dim == 1 else cc.Independent([TASK] * arch.input_dim)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.CapacityWarning)
        result = cc.allocate(arch, arch.init(np.random.default_rng(seed)), process)
    loaded = through_memory(result)
    assert same(result, loaded) and same(loaded.layers, result.layers)
    assert loaded.capacity(np.ones(arch.n_inputs * arch.input_dim)) == result.capacity(
        np.ones(arch.n_inputs * arch.input_dim)
    )


@settings(max_examples=25, deadline=None)
@given(stacks(), seeds, st.sampled_from(["fft", "streamed", "octaves", "sketch"]))
def test_any_large_allocation_comes_back(arch, seed, method):
    params = arch.init(np.random.default_rng(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.CapacityWarning)
        result = cc.allocate(arch, params, TASK, method=method)
    assert same(result, through_memory(result))


def through_memory(result):
    """What packing and unpacking give: a file for each example would be slow."""
    pack = saved.Packing()
    plain = json.loads(json.dumps(pack(result, "result"), allow_nan=False))
    return saved.Unpacking({name: values.copy(order="K") for name, values in pack.arrays.items()})(plain)


numbers = st.floats(width=64) | st.integers() | st.booleans() | st.none() | st.text()
values = st.recursive(
    numbers,
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(values, st.slices(9))
def test_any_plain_value_comes_back(value, part):
    assert same([value, part], through_memory([value, part]))


@pytest.mark.parametrize(
    "arch",
    [
        cc.Hierarchical(channels=[2, 3], kernel_size=[2, 3, 2], dilations=[1, 1, 4], input_dim=2),
        cc.Hierarchical(channels=1, n_layers=1),
        cc.Recurrent(n_inputs=8, channels=2),
        cc.Linear(np.eye(6)[:, :3], input_dim=2),
        cc.NearAndPools(2, 3, n_inputs=30, input_dim=2),
        cc.LogTaps(30, 5),
        cc.AutoRegressiveTaps(3, n_inputs=30, input_dim=2),
        cc.Sum(ARCH, cc.AutoRegressiveTaps(3)),
        cc.Frozen(ARCH, np.ones(ARCH.n_params), [0, 3, 5]),
        cc.Frozen(cc.Frozen(ARCH, np.ones(ARCH.n_params), [0, 3, 5]), np.ones(3), [1]),
    ],
    ids=repr,
)
def test_architectures_are_built_again(arch):
    loaded = through_memory(arch)
    assert type(loaded) is type(arch) and repr(loaded) == repr(arch)
    params = np.random.default_rng(0).normal(size=arch.n_params)
    np.testing.assert_array_equal(loaded.coefficients(params), arch.coefficients(params))


def test_a_loaded_fit_continues(results, tmp_path):
    fitted = results["fit by octaves"]
    loaded = again(fitted, tmp_path)
    for method in ("dense", "octaves"):
        one, two = (cc.allocate(ARCH, each, TASK, method=method).per_octave for each in (fitted, loaded))
        assert one.tobytes() == two.tobytes()
    assert np.all(cc.fit(loaded.arch, TASK, start=loaded.params, method="gauss-newton").params)


def test_functions_are_not_saved_and_what_needs_them_says_so(tmp_path):
    model = cc.Function(lambda w: np.convolve(w[:2], w[2:]), n_params=4, derivative="complex-step")
    fitted = cc.fit(model, TASK)
    loaded = again(fitted, tmp_path)
    assert repr(loaded.arch) == repr(model) and loaded.loss == fitted.loss
    for ask in (loaded.arch.coefficients, loaded.arch.jacobian, loaded.arch.vjp):
        with pytest.raises((ValueError, TypeError)):
            ask(loaded.params)
    with pytest.raises(ValueError, match=all_of(["without its function", "expected the model itself"])):
        cc.allocate(loaded.arch, loaded, TASK)
    assert cc.allocate(model, loaded, TASK).total == 3
    allocation = again(cc.allocate(model, fitted, TASK), tmp_path)
    assert allocation.total == 3 and allocation.layers["all parameters"].totals["independent"] == 3


def test_products_alone_are_remembered_by_their_size(tmp_path):
    products = cc.JacobianProducts(np.eye(4).dot, np.eye(4).dot, n_inputs=4, n_params=4)
    loaded = again(cc.allocate(products, None, TASK), tmp_path)
    assert loaded.n_inputs == loaded.arch.n_params == 4 and loaded.per_input.sum() == pytest.approx(4)


def test_a_loaded_network_gives_what_needs_no_function(results, tmp_path):
    result = results["network"]
    loaded = again(result, tmp_path)
    columns = np.random.default_rng(0).normal(size=(20, 2))
    assert loaded.capacity(columns) == result.capacity(columns)
    assert loaded.layers["all parameters"].totals == result.layers["all parameters"].totals
    assert loaded.dense("J").scaled.tobytes() == result.dense("J").scaled.tobytes()
    with pytest.raises(
        ValueError, match=all_of(["found a loaded result without its network", "expected the function"])
    ):
        loaded.response(np.ones(20))
    sketched = again(results["sketched network"], tmp_path)
    assert same(sketched.errors, results["sketched network"].errors)
    with pytest.raises(AttributeError, match="Call allocate_network again"):
        sketched.capacity(columns)


def test_what_would_be_too_large_is_left_out_with_the_reason(results, tmp_path, monkeypatch):
    monkeypatch.setattr(left_out, "LARGEST", 100)
    result = results["allocation by dense"]
    loaded = again(result, tmp_path)
    for name in ("per_input", "per_eigenvector", "eigenvalues", "per_frequency", "frequencies"):
        assert same(getattr(result, name), getattr(loaded, name))
    assert all(same(layer.marginal, loaded.layers[name].marginal) for name, layer in result.layers.items())
    assert loaded.to_dataframe(by="layer").equals(result.to_dataframe(by="layer"))
    for name in ("space", "capacity", "covariance"):
        with pytest.raises(AttributeError, match=f"^{name}: found a loaded result without it.*Ask for this before"):
            getattr(loaded, name)
    with pytest.raises(AttributeError, match="Ask for this before saving"):
        loaded.layers["layer 1"].space.capacity(np.ones(16))
    network = again(results["network"], tmp_path)
    assert same(network.per_example, results["network"].per_example)
    for ask in (lambda: network.layers, lambda: network.capacity(np.ones(20))):
        with pytest.raises(AttributeError, match=r"above the 0 MB that a file may take.*Call allocate_network again"):
            ask()


def test_only_results_are_saved(tmp_path):
    class Fit:
        """Of the same name."""

    for other in (ARCH, {"a": 1}, Fit(), cc.allocate(ARCH, cc.fit(ARCH, TASK), TASK).space):
        with pytest.raises(TypeError, match=r"^result: found .*, expected one of Fit, Allocation"):
            saved.save(other, tmp_path / "x")
    odd = dataclasses.replace(cc.fit(ARCH, TASK), extras={"gradient_norm": np.array([1j])})
    with pytest.raises(TypeError, match="expected real numbers"):
        odd.save(tmp_path / "x")
    assert not list(tmp_path.iterdir())


def test_numpy_alone_reads_the_numbers(file, results):
    with np.load(file, allow_pickle=False) as archive:
        header = json.loads(archive["header"].tobytes())
        assert (header["format"], header["version"], header["kind"]) == ("capcore result", 1, "Allocation")
        np.testing.assert_array_equal(archive["allocation.per_octave"], results["allocation by fft"].per_octave)


def test_a_file_is_replaced_in_one_step(file, results, monkeypatch):
    before, names = file.read_bytes(), sorted(os.listdir(file.parent))

    def full(*_, **__):
        raise OSError("no space left on device")

    monkeypatch.setattr(headed.npy, "write_array", full)
    with pytest.raises(OSError, match="no space"):
        results["fit by octaves"].save(file)
    assert file.read_bytes() == before and sorted(os.listdir(file.parent)) == names
    monkeypatch.undo()
    results["fit by octaves"].save(str(file))
    assert cc.load(str(file)).method == "octaves" and sorted(os.listdir(file.parent)) == names


def test_a_link_stays_a_link_and_rights_are_the_usual_ones(file, results):
    link = file.with_name("link")
    link.symlink_to(file)
    results["fit by octaves"].save(link)
    plain = file.with_name("plain")
    plain.write_bytes(b"")
    assert link.is_symlink() and cc.load(file).method == "octaves" and file.stat().st_mode == plain.stat().st_mode


def test_where_nothing_can_be_written(tmp_path, results):
    result = results["fit by octaves"]
    with pytest.raises(FileNotFoundError, match=all_of(["found no folder", "expected one that exists"])):
        result.save(tmp_path / "absent" / "x.npz")
    with pytest.raises(IsADirectoryError, match=all_of(["found the folder", "expected the name of a file"])):
        result.save(tmp_path)
    with pytest.raises(TypeError, match="path: found int"):
        result.save(3)


def test_closed_lists_name_what_is_there():
    """Every class of the lists exists, and a part of a result that is missing there would be noticed on saving."""
    from capcore.results.packing import MODELS, RECORDS, class_of

    assert all(dataclasses.is_dataclass(class_of(name)) for name in RECORDS)
    assert {*MODELS} <= {*cc.__all__} and {*saved.KINDS} <= {*RECORDS}


def test_left_out_says_nothing_else():
    gone = LeftOut("gone.")
    assert not hasattr(gone, "anything") and same(gone, LeftOut("gone."))
