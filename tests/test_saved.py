"""Saved results: the same to the last bit after loading, nothing lost on the way, and nothing executed."""

import dataclasses
import io
import json
import os
import pickle
import subprocess
import sys
import warnings
import zipfile
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib import format as npy

import capcore as cc
from capcore import left_out, saved
from capcore.checkpoints import headed
from capcore.checkpoints.tensors import CheckpointError
from capcore.left_out import LeftOut
from tests.strategies import all_of, hierarchical_models, seeds, stacks

TASK = cc.PowerLaw()
ARCH = cc.Hierarchical(channels=2, n_layers=4)
NETWORK = np.random.default_rng(1).normal(size=(20, 3))


def linear(w, x):
    return x @ w


def again(result, folder):
    result.save(folder / "result.npz")
    return cc.load(folder / "result.npz")


def same(one, other):
    """Whether two values agree in every bit and every type; functions and what holds them are compared by kind."""
    if isinstance(one, np.ndarray):
        return (
            isinstance(other, np.ndarray)
            and (one.dtype, one.shape, one.flags.writeable) == (other.dtype, other.shape, other.flags.writeable)
            and one.tobytes() == other.tobytes()
        )
    if dataclasses.is_dataclass(one):
        names = [field.name for field in dataclasses.fields(one)]
        return type(one) is type(other) and all(same(vars(one)[name], vars(other)[name]) for name in names)
    if isinstance(one, dict | MappingProxyType):
        return list(one) == list(other) and all(map(same, one.values(), other.values()))
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if hasattr(one, "n_params"):
        return repr(one) == repr(other) and same(one.layers, other.layers)
    if isinstance(one, float):
        return repr(float(one)) == repr(other)
    return one == other


@pytest.fixture(scope="module")
def results():
    """One of each kind and method."""
    found = {f"fit by {m}": cc.fit(ARCH, TASK, method=m) for m in ("gauss-newton", "riemannian-newton", "octaves")}
    fitted = found["fit by gauss-newton"]
    for method in ("dense", "fft", "streamed", "octaves", "sketch"):
        found[f"allocation by {method}"] = cc.allocate(ARCH, fitted, TASK, method=method)
    data = (NETWORK, NETWORK @ np.ones(3) + np.sin(9 * NETWORK[:, 0]))
    least = np.linalg.lstsq(*data)[0]
    found["network"] = cc.allocate_network(linear, least, *data)
    found["sketched network"] = cc.allocate_network(linear, least, *data, method="sketch")
    rng = np.random.default_rng(0)
    weights = {"fc": rng.normal(size=(30, 20)), "conv": rng.normal(size=(14, 12, 3, 3)), "head": np.ones((3, 20))}
    options = cc.spectra.SpectraOptions(kinds={"head": "linear"}, groups={"conv": 2})
    found["spectra"] = cc.analyse_spectra(weights, options)
    found["spectra of huge weights"] = cc.analyse_spectra({"fc": 1e200 * weights["fc"]})
    return found


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


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def file(results, tmp_path):
    results["allocation by fft"].save(tmp_path / "result.npz")
    return tmp_path / "result.npz"


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


# --- files that are hostile or damaged --------------------------------------------------------------------------------


def rewritten(file, change):
    """The file with its header changed, and the other members as they are."""
    with np.load(file) as archive:
        arrays = {name: archive[name] for name in archive.files if name != "header"}
        header = json.loads(archive["header"].tobytes())
    change(header)
    headed.write_headed(file, header, arrays)


def put(*path, to):
    def change(header):
        for name in path[:-1]:
            header = header[name]
        header[path[-1]] = to

    return change


FIELDS = ("result", "fields")
CHANGES = {
    "a later version": put("version", to=2),
    "no version": put("version", to=None),
    "another format": put("format", to="other"),
    "another kind": put("kind", to="Popen"),
    "a kind that is not the result's": put("kind", to="Fit"),
    "a record out of the list": put(*FIELDS, "details", to={"record": "Popen", "fields": {"args": "true"}}),
    "a record by its path": put(*FIELDS, "details", to={"record": "os.system", "fields": {}}),
    "a model out of the list": put(*FIELDS, "arch", to={"model": "Function", "arguments": {"function": "print"}}),
    "a model with other arguments": put(*FIELDS, "arch", "arguments", to={"channels": 2}),
    "a model that cannot be": put(*FIELDS, "arch", "arguments", "channels", to=-1),
    "a model of any size": put(*FIELDS, "arch", "arguments", "channels", to=10**18),
    "another model": put(*FIELDS, "arch", "arguments", "dilations", to=[1, 2, 4, 16]),
    "no model": put(*FIELDS, "arch", to="Hierarchical"),
    "a field too many": put(*FIELDS, "more", to=1),
    "a field of another type": put(*FIELDS, "total", to="16"),
    "a truth for a number": put(*FIELDS, "total", to=True),
    "a number for an array": put(*FIELDS, "per_octave", to=1.0),
    "an array that is not there": put(*FIELDS, "per_octave", to={"array": "absent"}),
    "another array": put(*FIELDS, "per_octave", to={"array": "allocation.edges"}),
    "an array named by a list": put(*FIELDS, "per_octave", to={"array": ["header"]}),
    "an entry of another form": put(*FIELDS, "method", to={"eval": "print(1)"}),
    "a form with more": put(*FIELDS, "method", to={"tuple": [], "eval": 1}),
    "a mapping of numbers": put(*FIELDS, "method", to={"mapping": [[1, 2]]}),
    "a mapping of threes": put(*FIELDS, "method", to={"mapping": [["a", 1, 2]]}),
    "a slice of texts": put(*FIELDS, "method", to={"slice": ["a", "b", None]}),
    "no such number": put(*FIELDS, "error", to={"number": "__import__('os')"}),
    "a result that is a list": put("result", to=[]),
    "a record within records": put("result", to={"record": "Allocation", "fields": []}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_header_that_was_tampered_with_is_refused(change, file):
    rewritten(file, lambda header: None)
    cc.load(file)
    rewritten(file, CHANGES[change])
    with pytest.raises(CheckpointError, match=all_of([str(file), "found", "."])) as refusal:
        cc.load(file)
    assert len(str(refusal.value)) < 1000


def member(values):
    buffer = io.BytesIO()
    npy.write_array(buffer, np.asarray(values), allow_pickle=True)
    return buffer.getvalue()


def stated(shape, dtype="<f8"):
    """A member that states a shape and has no values."""
    buffer = io.BytesIO()
    npy.write_array_header_1_0(buffer, {"descr": dtype, "fortran_order": False, "shape": shape})
    return buffer.getvalue()


class Trap:
    def __reduce__(self):
        return os.system, ("touch executed",)


def nested(depth):
    return np.frombuffer(('{"format": ' + "[" * depth + "]" * depth + "}").encode(), np.uint8)


HOSTILE = {
    "other arrays": lambda: {"a.npy": member(np.ones(3))},
    "a pickled header": lambda: {"header.npy": member(np.array([Trap()], object))},
    "a header of floats": lambda: {"header.npy": member(np.ones(3))},
    "a header that is a table": lambda: {"header.npy": member(np.ones((3, 3), np.uint8))},
    "a header that is no JSON": lambda: {"header.npy": member(np.frombuffer(b"{'a': 1}", np.uint8))},
    "a header that is a list": lambda: {"header.npy": member(np.frombuffer(b"[]", np.uint8))},
    "a header with NaN": lambda: {"header.npy": member(np.frombuffer(b'{"format": NaN}', np.uint8))},
    "a header nested deeply": lambda: {"header.npy": member(nested(100_000))},
    "a header of any length": lambda: {"header.npy": stated((2**50,), "|u1")},
    "a header of no file's length": lambda: {"header.npy": stated((2**62, 2**62), "|u1")},
    "a header stored as text": lambda: {"header": b"{}"},
    "no members": dict,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives_are_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile("x.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        for each, content in HOSTILE[name]().items():
            archive.writestr(each, content)
    with pytest.raises(CheckpointError, match=all_of(["x.npz", "found"])):
        cc.load("x.npz")
    assert os.listdir() == ["x.npz"]


def test_pickled_arrays_and_shapes_that_no_file_has_are_refused(file, monkeypatch):
    monkeypatch.chdir(file.parent)
    with zipfile.ZipFile(file) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    for bad in (member(np.array([Trap()], object)), stated((2**40,)), stated((2**62, 2**62)), b"\x93NUMPY\x09\x00"):
        with zipfile.ZipFile(file, "w") as archive:
            for name, content in {**members, "allocation.per_octave.npy": bad}.items():
                archive.writestr(name, content)
        with pytest.raises(CheckpointError, match=r"result\.npz"):
            cc.load(file)
    assert os.listdir() == ["result.npz"]


def test_an_archive_that_expands_to_far_more_than_its_size_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.npy", stated((2**29,), "|u1") + bytes(2**29))
    with pytest.raises(CheckpointError, match="expands to"):
        cc.load(tmp_path / "bomb.npz")


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "empty"), (b"PK", "zip"), (pickle.dumps(Trap()), "zip"), (b"\x93NUMPY", "zip"), (None, "no such file")],
)
def test_what_is_no_archive_is_refused(content, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "x.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CheckpointError, match=said):
        cc.load(path)
    with pytest.raises(CheckpointError, match="not a file"):
        cc.load(tmp_path)
    assert not (tmp_path / "executed").exists()


def test_truncated_files_are_refused(file):
    content = file.read_bytes()
    for end in range(1, len(content), 61):
        file.write_bytes(content[:end])
        with pytest.raises(CheckpointError):
            cc.load(file)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_changed_bytes_are_refused_or_change_nothing(data):
    content = bytearray(CONTENT)
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    path = DRAFTS / "changed.npz"
    path.write_bytes(content)
    try:
        loaded = cc.load(path)
    except CheckpointError:
        return
    assert same(loaded, REFERENCE)  # a date, a comment, or what else no reader looks at


@pytest.fixture(scope="module", autouse=True)
def _reference(results, tmp_path_factory):
    global CONTENT, REFERENCE, DRAFTS
    DRAFTS = tmp_path_factory.mktemp("changed")
    REFERENCE = results["allocation by octaves"]
    REFERENCE.save(DRAFTS / "one.npz")
    CONTENT = (DRAFTS / "one.npz").read_bytes()


def test_loading_among_hostile_modules_executes_none(results, tmp_path):
    """Nor does it load what the numbers do not need."""
    for name in ("numpy", "capcore", "pandas", "matplotlib", "zipfile", "json", "Popen", "Fit", "header"):
        (tmp_path / f"{name}.py").write_text(f"open('executed by {name}', 'w')\n", "utf8")
    results["network"].save(tmp_path / "network.npz")
    results["fit by gauss-newton"].save(tmp_path / "fit.npz")
    program = (
        "import sys, capcore; print(capcore.load('fit.npz').method, capcore.load('network.npz').method, "
        "*{'jax', 'pandas', 'matplotlib'} & set(sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-P", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == ["gauss-newton", "dense"]
    assert not [name for name in os.listdir(tmp_path) if name.startswith("executed")]


def test_closed_lists_name_what_is_there():
    """Every class of the lists exists, and a part of a result that is missing there would be noticed on saving."""
    from capcore.packing import MODELS, RECORDS, class_of

    assert all(dataclasses.is_dataclass(class_of(name)) for name in RECORDS)
    assert {*MODELS} <= {*cc.__all__} and {*saved.KINDS} <= {*RECORDS}


def test_left_out_says_nothing_else():
    gone = LeftOut("gone.")
    assert not hasattr(gone, "anything") and same(gone, LeftOut("gone."))
